const offsetBasis = 0xcbf29ce484222325n;
const prime = 0x100000001b3n;

/**
 * Sixteen hexadecimal digits that tell texts apart: FNV-1a over their UTF-16 units, 64 bits. For names only; who wants
 * two texts with the same hash can find them.
 */
export function shortHash(text: string): string {
  let hash = offsetBasis;
  for (let index = 0; index < text.length; index += 1) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(text.charCodeAt(index))) * prime);
  }
  return hash.toString(16).padStart(16, '0');
}
