import type { Unread } from "./types.ts";

/** The most files named as not read, and archives named as unidentified. */
export const MAX_UNREAD = 1_000;

/** What was seen and not read, by path; how many there are beyond MAX_UNREAD is an entry of its own. */
export class UnreadFiles {
  readonly #named = new Map<string, Unread>();
  readonly #waiting = new Map<string, Unread>();
  #more = 0;
  #moreWaiting = 0;

  add(file: Unread): void {
    const named = file.waits === true ? this.#waiting : this.#named;
    if (named.size < MAX_UNREAD || named.has(file.path)) named.set(file.path, file);
    else if (file.waits === true) this.#moreWaiting += 1;
    else this.#more += 1;
  }

  list(): Unread[] {
    return [
      ...this.#named.values(),
      ...(this.#more === 0 ? [] : [{ path: "", layer: "", reason: `${this.#more} more files` }]),
      ...this.#waiting.values(),
      ...(this.#moreWaiting === 0 ? [] : [moreArchives(this.#moreWaiting)]),
    ];
  }
}

/** The note of a Java archive of which is not known what it is. */
export function unidentified(archive: Pick<Unread, "path" | "layer" | "sha1">): Unread {
  return { ...archive, kind: "UNIDENTIFIED", reason: "it is a Java archive that could not be identified" };
}

/** The note of the archives that wait to be identified, beyond those that are named. */
export function moreArchives(count: number): Unread {
  const reason = `${count} more Java archives that could not be identified`;
  return { path: "", layer: "", kind: "UNIDENTIFIED", waits: true, reason };
}
