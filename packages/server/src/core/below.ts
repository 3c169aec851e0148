import type { Row } from "../store/index.ts";
import type { Call } from "./call.ts";

/** Resources that keep what they are below from being deleted: what they are called, and how many there are. */
export interface Hindrance {
  words: string;
  count: number;
}

/** An image as one repo has it. */
export interface StoredImage {
  repo: string;
  digest: string;
}

/**
 * What an area keeps below resources of areas that know nothing of it. Each function is called in the transaction that
 * changes the resource, and emits the events of what it changes itself.
 */
export interface Below {
  readonly group?: {
    /** What keeps the group from being deleted. */
    hindrances?(call: Call, group: string): Promise<Hindrance[]>;
    /** Removes what goes with the group, after nothing has kept it. */
    end?(call: Call, group: string): Promise<void>;
  };
  readonly repo?: {
    /** Removes what goes with the repo. */
    end(call: Call, repo: string): Promise<void>;
    /** Copies the repo from its source from now on, which is a new one; undefined: from none. */
    follow?(call: Call, repo: string, mirror: Omit<Row<"mirrors">, "repo"> | undefined): Promise<void>;
    /** Copies it as soon as that can be. */
    sync?(call: Call, repo: string, mirror: Pick<Row<"mirrors">, "next_time" | "state">): Promise<void>;
  };
  readonly identity?: {
    /** Ends what the identity is signed in by. */
    end(call: Call, identity: string): Promise<void>;
  };
  readonly identityProvider?: {
    /** Ends what signs people of the provider in again without it. */
    signOut(call: Call, provider: string): Promise<void>;
  };
  readonly image?: {
    /** Notes that a repo has an image whose file systems may not have been read. */
    stored(call: Call, image: StoredImage): Promise<void>;
  };
}

/** The same of all areas. */
export type AllBelow = { readonly [K in keyof Below]-?: readonly NonNullable<Below[K]>[] };

/** What these areas keep, in the order of the list. */
export function allBelow(list: readonly Below[]): AllBelow {
  const of = <K extends keyof Below>(kind: K): NonNullable<Below[K]>[] =>
    list.flatMap((below) => {
      const one = below[kind];
      return one === undefined ? [] : [one];
    });
  return {
    group: of("group"),
    repo: of("repo"),
    identity: of("identity"),
    identityProvider: of("identityProvider"),
    image: of("image"),
  };
}
