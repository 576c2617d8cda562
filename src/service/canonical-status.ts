/** The service's word for a state, with the one spelling that wavers made the specification's (section 3). */
export function canonicalStatus(word: string): string {
  return word === 'Cancelled' ? 'Canceled' : word;
}
