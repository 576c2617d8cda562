import { format, isDateFormat } from 'numfmt';
import { errorMessage, showValue } from '../core/text';

/** Of ECMA-376, as a spreadsheet in English shows them; ids beyond these without a code depend on its language. */
const builtInFormats: Readonly<Record<number, string>> = {
  0: 'General',
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  9: '0%',
  10: '0.00%',
  11: '0.00E+00',
  12: '# ?/?',
  13: '# ??/??',
  14: 'm/d/yyyy',
  15: 'd-mmm-yy',
  16: 'd-mmm',
  17: 'mmm-yy',
  18: 'h:mm AM/PM',
  19: 'h:mm:ss AM/PM',
  20: 'h:mm',
  21: 'h:mm:ss',
  22: 'm/d/yyyy h:mm',
  37: '#,##0 ;(#,##0)',
  38: '#,##0 ;[Red](#,##0)',
  39: '#,##0.00;(#,##0.00)',
  40: '#,##0.00;[Red](#,##0.00)',
  45: 'mm:ss',
  46: '[h]:mm:ss',
  47: 'mm:ss.0',
  48: '##0.0E+0',
  49: '@',
};

export interface NumberFormat {
  readonly id: number;
  /** Of a format that the workbook defines. */
  readonly code?: string | undefined;
}

type Shown = { readonly text: string; readonly problem?: never } | { readonly text?: never; readonly problem: string };

/** A spreadsheet keeps 15 digits, and writes zeros for the others. */
const mostExact = 1e15;
const days1904 = 1_462;
/** No spreadsheet has a longer one. */
const maxCodeLength = 255;
const asText = 'format the cell as text, and enter again what it is to show';

/** A number as its cell shows it; without separators of thousands, which differ by language. */
export function showNumber(raw: string, { id, code = builtInFormats[id] }: NumberFormat, is1904: boolean): Shown {
  const value = Number(raw);
  if (raw.trim() === '' || !Number.isFinite(value)) return { problem: `got no number; ${asText}` };
  if (code !== undefined && code.length > maxCodeLength)
    return { problem: `got a number format of ${code.length} characters; ${asText}` };
  if (code === undefined) return { problem: `got a number format that depends on a language; ${asText}` };
  try {
    if (isDateFormat(code)) {
      const serial = is1904 ? value + days1904 : value;
      return { text: format(code, serial, { dateErrorThrows: true, dateSpanLarge: false }).trim() };
    }
    if (Math.abs(value) >= mostExact) {
      return { problem: `got a number of more than 15 digits, which a spreadsheet shortened; ${asText}` };
    }
    const exact = Number(value.toPrecision(15));
    if (/^(?:general|@)$/i.test(code)) return { text: String(exact) };
    // 1.005 is a little less as a double, but a spreadsheet rounds the digits.
    const rounded = String(exact).endsWith('5') ? exact * (1 + Number.EPSILON) : exact;
    const shown = format(code, rounded).trim();
    return { text: isPlain(code, value) ? shown.replaceAll(',', '') : shown };
  } catch (error) {
    return {
      problem: `got the number format ${showValue(code)}, which cannot be shown (${errorMessage(error)}); ${asText}`,
    };
  }
}

/** Whether it shows nothing but digits, such as `00000` and `#,##0.00`. */
function isPlain(code: string, value: number): boolean {
  const [positive = '', ...others] = code.split(';');
  const digits = positive.replace(/\[[A-Za-z]+\]|_.|\*./g, '').trim();
  return /^[#0,]*0(?:\.[0#]+)?$/.test(digits) && (value >= 0 || others.length === 0);
}
