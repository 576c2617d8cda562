import type { Clause } from '../clause';
import { section1 } from './section-1';
import { section21 } from './section-2-1';
import { section22 } from './section-2-2';
import { section23 } from './section-2-3';
import { section24 } from './section-2-4';
import { section25 } from './section-2-5';
import { section26 } from './section-2-6';
import { section27 } from './section-2-7';
import { section3 } from './section-3';
import { section4List } from './section-4-list';
import { section4Tasks } from './section-4-tasks';
import { section4Uploads } from './section-4-uploads';
import { section5 } from './section-5';
import { section6 } from './section-6';
import { section7 } from './section-7';
import { section8 } from './section-8';
import { section9 } from './section-9';

/** Every checkable statement of the specification, in its order. */
export const clauses: readonly Clause[] = [
  ...section1,
  ...section21,
  ...section22,
  ...section23,
  ...section24,
  ...section25,
  ...section26,
  ...section27,
  ...section3,
  ...section4Tasks,
  ...section4Uploads,
  ...section4List,
  ...section5,
  ...section6,
  ...section7,
  ...section8,
  ...section9,
];
