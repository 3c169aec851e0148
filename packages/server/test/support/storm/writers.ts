import { createHash } from "node:crypto";
import { type Client, openClient, type Send } from "../api-client.ts";
import { diceOf } from "../dice.ts";
import type { Replicas } from "../replicas.ts";
import type { Place } from "./world.ts";

/** Acknowledged writes: each emits events of these types below this subject. */
export interface Written {
  place: Place;
  digest: string;
  tag: string;
  pushed: boolean;
}

/** Writers at work. */
export interface Writers {
  /** In the order in which each writer wrote; a tag has one writer. */
  written: Written[];
  /** The number of events for the writes. */
  events(): number;
  /** Resolves when so many events are made; rejects when a writer cannot go on. */
  done: Promise<void>;
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
 * `each` writers a place make and move tags of their own, by pushes, one by one, and a `fleet` of them together, until
 * there are so many events.
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
        // ABORTED changed nothing, and asks to be sent again: other writers changed the same for ten seconds.
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
    const fleet = Array.from({ length: size }, (_, ship) => `w${number}-fleet-${ship}`);
    let held: string | undefined;
    let promoted: string | undefined;
    for (let turn = 0; made < events; turn++) {
      const tag = `w${number}-${dice.below(TAGS)}`;
      // No other is like it: of no layers, and of this writer's turn alone.
      const content = JSON.stringify({
        schemaVersion: 2,
        mediaType: OCI_INDEX,
        manifests: [],
        annotations: { turn: `${seed} ${number} ${turn}` },
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
  // Whoever waits for it sees what went wrong.
  done.catch(() => {});
  const trouble = (): number =>
    clients.reduce((sum, client) => sum + client.trouble.connections + client.trouble.unavailable, 0);
  return { written, done, trouble, events: () => made };
}
