import { randomBytes } from 'node:crypto';
import { dateFolder } from '../timestamp';
import { inputExtension } from './input-extension';

/** A committed input file (specification section 2.7). */
export interface InputResource {
  readonly id: number;
  readonly accountId: string;
  readonly name: string;
  /** Extension with its leading dot, derived from the name. */
  readonly ext: string;
  readonly objectKey: string;
}

/** What a list of resources is restricted to. */
export interface ResourceFilter {
  readonly ext?: string | undefined;
  readonly objectKey?: string | undefined;
}

/** One page of a list, and how many entries all pages have together. */
export interface ResourcePage {
  readonly resources: readonly InputResource[];
  readonly total: number;
}

/** The resources of one account; the maps are in the order of the commits. */
interface Shelf {
  readonly byId: Map<number, InputResource>;
  readonly byObjectKey: Map<string, InputResource>;
  readonly byName: Map<string, InputResource>;
}

/** Keys that were handed out, and the resources that became of them. Both are bounded: the oldest make room. */
export class ResourceBook {
  /** Object keys given out and not committed yet, with their account. */
  readonly #reserved = new Map<string, string>();
  readonly #shelves = new Map<string, Shelf>();
  readonly #limit: number;
  #lastId = 0;

  /** Keeps at most `limit` open keys, and as many resources per account. */
  constructor(limit = 50_000) {
    this.#limit = limit;
  }

  /** A new object key that nobody can guess, `inputs/<date>/<name>.<ext>`. */
  reserve(accountId: string, ext: string): string {
    const objectKey = `inputs/${dateFolder(new Date())}/${randomBytes(16).toString('hex')}${ext}`;
    this.#reserved.set(objectKey, accountId);
    this.#makeRoom(this.#reserved);
    return objectKey;
  }

  /** True for a key that was handed out to this account and is not committed yet. */
  isReserved(objectKey: string, accountId: string): boolean {
    return this.#reserved.get(objectKey) === accountId;
  }

  /** Enters an uploaded object as a resource; a second commit of a key finds the first one's resource. */
  commit(accountId: string, name: string, objectKey: string): InputResource {
    const known = this.findByObjectKey(objectKey, accountId);
    if (known !== undefined) return known;
    this.#lastId += 1;
    const resource: InputResource = { id: this.#lastId, accountId, name, ext: inputExtension(name), objectKey };
    this.#reserved.delete(objectKey);
    this.#place(resource);
    return resource;
  }

  /** This account's resource with that object key. */
  findByObjectKey(objectKey: string, accountId: string): InputResource | undefined {
    return this.#shelves.get(accountId)?.byObjectKey.get(objectKey);
  }

  /** This account's resource with that id, else the newest one of that name. */
  findByIdOrName(reference: string, accountId: string): InputResource | undefined {
    const shelf = this.#shelves.get(accountId);
    const byId = /^\d{1,15}$/.test(reference) ? shelf?.byId.get(Number(reference)) : undefined;
    return byId ?? shelf?.byName.get(reference);
  }

  /** One page of this account's resources, newest first; pages count from 1. */
  list(accountId: string, filter: ResourceFilter, current: number, pageSize: number): ResourcePage {
    const matching = this.#matching(accountId, filter);
    const end = matching.length - (current - 1) * pageSize;
    const resources = end <= 0 ? [] : matching.slice(Math.max(0, end - pageSize), end).reverse();
    return { resources, total: matching.length };
  }

  /** The resources of all accounts that were committed last, newest first. */
  newest(count: number): readonly InputResource[] {
    const ofEach = [...this.#shelves.values()].flatMap(({ byId }) => [...byId.values()].slice(-count));
    return ofEach.sort((a, b) => b.id - a.id).slice(0, count);
  }

  /** Removes a resource, whoever's it is; false when it is not there. */
  remove(id: number): boolean {
    for (const shelf of this.#shelves.values()) {
      const resource = shelf.byId.get(id);
      if (resource === undefined) continue;
      shelf.byId.delete(id);
      shelf.byObjectKey.delete(resource.objectKey);
      if (shelf.byName.get(resource.name) === resource) shelf.byName.delete(resource.name);
      return true;
    }
    return false;
  }

  #matching(accountId: string, { ext, objectKey }: ResourceFilter): readonly InputResource[] {
    const one = objectKey === undefined ? undefined : this.findByObjectKey(objectKey, accountId);
    const all = objectKey === undefined ? [...(this.#shelves.get(accountId)?.byId.values() ?? [])] : one ? [one] : [];
    return ext === undefined ? all : all.filter((resource) => resource.ext === ext);
  }

  #place(resource: InputResource): void {
    const shelf = this.#shelves.get(resource.accountId) ?? {
      byId: new Map(),
      byObjectKey: new Map(),
      byName: new Map(),
    };
    this.#shelves.set(resource.accountId, shelf);
    shelf.byId.set(resource.id, resource);
    shelf.byObjectKey.set(resource.objectKey, resource);
    shelf.byName.set(resource.name, resource);
    this.#makeRoom(shelf.byId);
    this.#makeRoom(shelf.byObjectKey);
    this.#makeRoom(shelf.byName);
  }

  #makeRoom(map: Map<unknown, unknown>): void {
    if (map.size <= this.#limit) return;
    for (const oldest of map.keys()) {
      map.delete(oldest);
      return;
    }
  }
}
