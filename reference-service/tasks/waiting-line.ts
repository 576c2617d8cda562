/**
 * Who is next, first come first served. Leaving from the middle and asking for a position are cheap: the line is
 * renumbered at most once after a change, on the first question.
 */
export class WaitingLine<Member> {
  readonly #members = new Set<Member>();
  #positions: Map<Member, number> | undefined;

  get length(): number {
    return this.#members.size;
  }

  /** Joins at the end. */
  join(member: Member): void {
    this.#positions?.set(member, this.#members.size);
    this.#members.add(member);
  }

  /** Leaves the line; false when `member` was not in it. */
  leave(member: Member): boolean {
    const wasThere = this.#members.delete(member);
    if (wasThere) this.#positions = undefined;
    return wasThere;
  }

  /** The first member, who stays in the line. */
  first(): Member | undefined {
    for (const member of this.#members) return member;
    return undefined;
  }

  /** How many members are ahead of `member`; -1 when it is not in the line. */
  countAhead(member: Member): number {
    if (this.#positions === undefined) {
      let position = 0;
      this.#positions = new Map();
      for (const each of this.#members) this.#positions.set(each, position++);
    }
    return this.#positions.get(member) ?? -1;
  }
}
