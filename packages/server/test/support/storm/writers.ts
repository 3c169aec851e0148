import { createHash } from "node:crypto";
import { type Client, openClient, type Send } from "../api-client.ts";
import { diceOf } from "../dice.ts";
import type { Replicas } from "../replicas.ts";
import type { Place } from "./world.ts";

/** An acknowledged write, which emits an event of the tag and, when it was pushed, one of the push. */
export interface Written {
  place: Place;
  digest: string;
  tag: string;
  pushed: boolean;
}

/** The running writers. */
export interface Writers {
  /** The acknowledged writes. Those of one tag are in order, because each tag has one writer. */
  written: Written[];
  /** The number of events for the writes. */
  events(): number;
  /** Resolves when the requested number of events is reached; rejects when a writer fails. */
  done: Promise<void>;
  /** The number of failed requests: broken connections and answers of unavailability. */
  trouble(): number;
}

interface Work {
  each: number;
  fleet: number;
  events: number;
  seed: number;
}
type Tokens = Pick<Replicas, "url" | "platform" | "registry">;

const TAGS = 5;
const MAX_ATTEMPTS = 5;
const PUSH_SHARE = 0.35;
const PROMOTION_SHARE = 0.3;
const PULL_SHARE = 0.1;
const OCI_INDEX = "application/vnd.oci.image.index.v1+json";
const JSON_TYPE = { "content-type": "application/json" };

/**
 * Starts `each` writers per place. Each writer creates and moves its own tags, by pushes, by single calls of the API
 * and by promotions of `fleet` tags together, until the number of `events` is reached.
 */
export function startWriters(
  { url, platform, registry }: Tokens,
  places: readonly Place[],
  { each, fleet: size, events, seed }: Work,
): Writers {
  const written: Written[] = [];
  let made = 0;
  const clients: Client[] = [];

  const write = async (place: Place, number: number): Promise<void> => {
    const dice = diceOf(seed, 402, number);
    const client = openClient(url);
    clients.push(client);
    const send = async (method: string, target: string, options: Send, expected: number): Promise<void> => {
      for (let attempt = 1; ; attempt += 1) {
        const { status, body } = await client.ask(method, target, options);
        if (status === expected) return;
        // ABORTED changed nothing and may be retried: other writers changed the same data for ten seconds.
        const isAborted = status === 409 && body.toString().includes('"ABORTED"');
        if (!isAborted || attempt === MAX_ATTEMPTS)
          throw new Error(`${method} ${target}: ${status} ${body.toString()}`);
      }
    };
    const post = (target: string, message: object): Promise<void> =>
      send("POST", target, { token: platform, headers: JSON_TYPE, body: JSON.stringify(message) }, 200);
    const note = (digest: string, tags: readonly string[], pushed: boolean): void => {
      written.push(...tags.map((tag) => ({ place, digest, tag, pushed })));
      made += pushed ? 2 : tags.length;
    };
    const fleet = Array.from({ length: size }, (_, at) => `w${number}-fleet-${at}`);
    let held: string | undefined;
    let promoted: string | undefined;
    for (let round = 0; made < events; round++) {
      const tag = `w${number}-${dice.below(TAGS)}`;
      // An empty index with a digest that no other round or writer has.
      const content = JSON.stringify({
        schemaVersion: 2,
        mediaType: OCI_INDEX,
        manifests: [],
        annotations: { round: `${seed} ${number} ${round}` },
      });
      const digest = `sha256:${createHash("sha256").update(content).digest("hex")}`;
      if (dice.chance(PUSH_SHARE)) {
        const target = `/v2/${place.path}/manifests/${tag}`;
        await send("PUT", target, { token: registry, headers: { "content-type": OCI_INDEX }, body: content }, 201);
        note(digest, [tag], true);
        held = digest;
        if (dice.chance(PULL_SHARE))
          await client.ask("HEAD", target, { token: registry, headers: { accept: OCI_INDEX } });
      } else if (dice.chance(PROMOTION_SHARE) && held !== promoted && held !== undefined) {
        const to = held;
        await post(`/registry/v2/tags/${place.repo}:promote`, {
          promotions: fleet.map((name) => ({ name, digest: to })),
        });
        note(to, fleet, false);
        promoted = to;
      } else {
        await post(`/registry/v2/tags/${place.repo}`, { name: tag, digest });
        note(digest, [tag], false);
      }
    }
  };

  const working = Promise.all(
    places.flatMap((place, at) => Array.from({ length: each }, (_, number) => write(place, at * each + number))),
  );
  const done = working
    .then(() => {})
    .finally(() => {
      for (const client of clients) client.close();
    });
  // Avoids an unhandled rejection; callers that await `done` get the error.
  done.catch(() => {});
  const trouble = (): number =>
    clients.reduce((sum, client) => sum + client.trouble.connections + client.trouble.unavailable, 0);
  return { written, done, trouble, events: () => made };
}
