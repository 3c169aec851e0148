import type { Database } from "@moorage/kernel/store";
import { type CoveringFeed, doesCover } from "../feeds/covers.ts";
import { MATCHED_FORMATS } from "../matching/record-affects.ts";
import { type SpaceState, stateOfSpace } from "./spaces.ts";

/** A feed whose records are compared with packages. */
export type ComparedFeed = CoveringFeed & { success_time: number | null };

/** The feeds that were read to their end at least once, and are not being removed. */
export async function comparedFeeds(tx: Database): Promise<ComparedFeed[]> {
  return await tx
    .selectFrom("feeds")
    .select(["name", "format", "address", "covers", "coverage", "success_time"])
    .where("format", "in", [...MATCHED_FORMATS])
    .where("success_time", "is not", null)
    .where("delete_time", "is", null)
    .orderBy("name")
    .execute();
}

/** The feeds, and what they cover in each key space, read once for all images that are looked at together. */
export class FeedStates {
  readonly #tx: Database;
  #feeds: Promise<ComparedFeed[]> | undefined;
  readonly #states = new Map<string, SpaceState>();

  constructor(tx: Database) {
    this.#tx = tx;
  }

  /** See comparedFeeds. */
  feeds(): Promise<ComparedFeed[]> {
    return (this.#feeds ??= comparedFeeds(this.#tx));
  }

  /** See stateByFeeds. */
  async stateOf(space: string): Promise<SpaceState> {
    const state = this.#states.get(space) ?? (await stateByFeeds(this.#tx, space, await this.feeds()));
    this.#states.set(space, state);
    return state;
  }
}

/** The state of a key space, by those of the feeds that cover it. */
export async function stateByFeeds(tx: Database, space: string, feeds: readonly ComparedFeed[]): Promise<SpaceState> {
  const covering = feeds.filter((feed) => doesCover(feed, space)).map(({ name }) => name);
  return await stateOfSpace(tx, space, covering);
}
