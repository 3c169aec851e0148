import { createHash } from "node:crypto";
import { type Client, openClient } from "./client.ts";
import { diceOf } from "./race-dice.ts";
import type { Replicas } from "./replicas.ts";
import type { Place } from "./storm-world.ts";

/** What the server said was done: events tell of it, of these types below this subject. */
export interface Written { place: Place; digest: string; tag: string; pushed: boolean }

/** Writers at work. */
export interface Writers {
  /** In the order in which each writer wrote; a tag has one writer. */
  written: Written[];
  /** Events that tell of what is written. */
  events(): number;
  /** Resolves when so many events are made; rejects when a writer cannot go on. */
  done: Promise<void>;
  trouble(): number;
}

type Tokens = Pick<Replicas, "url" | "platform" | "registry">;

const TAGS = 5;
const PUSH_SHARE = 0.3;
const PULL_EVERY = 25;
const OCI_INDEX = "application/vnd.oci.image.index.v1+json";
const JSON_TYPE = { "content-type": "application/json" };

/** `each` writers a place make and move tags of their own, by the API and by pushes, until there are so many events. */
export function startWriters({ url, platform, registry }: Tokens, places: readonly Place[], each: number, events: number, seed: number): Writers {
  const written: Written[] = [];
  let made = 0;
  const clients: Client[] = [];

  const write = async (place: Place, number: number): Promise<void> => {
    const dice = diceOf(seed, 402, number);
    const client = openClient(url);
    clients.push(client);
    for (let turn = 0; made < events; turn++) {
      const tag = `w${number}-${dice.below(TAGS)}`;
      const pushed = dice.chance(PUSH_SHARE);
      // No other is like it: of no layers, and of this writer's turn alone.
      const content = JSON.stringify({ schemaVersion: 2, mediaType: OCI_INDEX, manifests: [], annotations: { turn: `${seed} ${number} ${turn}` } });
      const digest = `sha256:${createHash("sha256").update(content).digest("hex")}`;
      const target = pushed ? `/v2/${place.path}/manifests/${tag}` : `/registry/v2/tags/${place.repo}`;
      const reply = pushed
        ? await client.ask("PUT", target, { token: registry, headers: { "content-type": OCI_INDEX }, body: content })
        : await client.ask("POST", target, { token: platform, headers: JSON_TYPE, body: JSON.stringify({ name: tag, digest }) });
      if (reply.status !== (pushed ? 201 : 200)) throw new Error(`${target}: ${reply.status} ${reply.body.toString()}`);
      written.push({ place, digest, tag, pushed });
      made += pushed ? 2 : 1;
      if (pushed && turn % PULL_EVERY === 0) await client.ask("HEAD", target, { token: registry, headers: { accept: OCI_INDEX } });
    }
  };

  const working = Promise.all(places.flatMap((place, at) => Array.from({ length: each }, (_, number) => write(place, at * each + number))));
  const done = working.then(() => {}).finally(() => {
    for (const client of clients) client.close();
  });
  // Whoever waits for it sees what went wrong.
  done.catch(() => {});
  const trouble = (): number => clients.reduce((sum, client) => sum + client.trouble.connections + client.trouble.unavailable, 0);
  return { written, done, trouble, events: () => made };
}
