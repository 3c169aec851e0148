import assert from "node:assert/strict";
import type { Database } from "../../../../kernel/src/store/index.ts";
import { openTestStore } from "../database.ts";
import { eventually } from "../eventually.ts";
import type { Installation } from "../installation.ts";
import { type Issuer, openIssuer } from "../issuer.ts";
import { type Answer, type Ask, type Platform, startPlatform } from "../platform.ts";

/** An event as stored, without its number, which is assigned later. */
export interface EmittedEvent {
  /** Without the prefix `dev.moorage.`. */
  type: string;
  subject: string;
  group: string;
  target: string;
  actor: { subject: string; act: Record<string, unknown> };
  body: Record<string, unknown>;
}

interface StoredEvent {
  id: string;
  type: string;
  subject: string;
  parent: string;
  target: string;
  actor: string;
  body: string;
}

const PULL = "registry.pull.v1";

/** The actor of the server's own jobs. */
export const SYSTEM: EmittedEvent["actor"] = { subject: "", act: { actor: "system" } };
export const TAG = "api.platform.registry.tag";

/** The fixture of the tests of events: a platform whose events are read, and an issuer of tokens. */
export interface EventFixture {
  platform: Platform;
  issuer: Issuer;
  /** The owner, with a token issued by the platform. */
  actor: EmittedEvent["actor"];
  /** The types of events emitted so far. */
  seen: Set<string>;
  /** The events that the work emitted, in order, without pulls. */
  emitted(work: () => Promise<unknown>): Promise<EmittedEvent[]>;
  /** The same in another installation. */
  emittedIn(installation: Installation, work: () => Promise<unknown>): Promise<EmittedEvent[]>;
  /** Waits for that many pulls. */
  pulls(count: number): Promise<EmittedEvent[]>;
  /** The actors and bodies of all events so far, as JSON. */
  text(): string;
  /** Calls the registry as the owner, or with the token. Fails the test when the answer is an error. */
  ask(method: string, path: string, how?: Ask): Promise<Answer>;
  close(): Promise<void>;
}

export async function openEventFixture(): Promise<EventFixture> {
  const platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1", MOORAGE_CATALOG_IMAGES: "1" });
  const issuer = await openIssuer();
  const listener = listen(platform.transact);
  const seen = new Set<string>();
  const withSeen = (events: EmittedEvent[]): EmittedEvent[] => {
    for (const { type } of events) seen.add(type);
    return events;
  };
  return {
    platform,
    issuer,
    seen,
    actor: { subject: platform.owner, act: {} },
    text: listener.text,
    emitted: async (work) => withSeen(await listener.during(work)),
    async emittedIn({ dataDir }, work) {
      const { store, close } = await openTestStore(dataDir);
      try {
        return withSeen(await listen((read) => store.transact(read)).during(work));
      } finally {
        await close();
      }
    },
    pulls: async (count) => withSeen(await listener.pulls(count)),
    async ask(method, path, { token, ...how } = {}) {
      const owners = (): Promise<string> => platform.token(platform.owner, { audience: new URL(platform.url).host });
      const answer = await platform.call(method, path, { token: token ?? (await owners()), ...how });
      assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
      return answer;
    },
    async close() {
      await issuer.close();
      await platform.close();
    },
  };
}

export function typesOf(events: EmittedEvent[]): string[] {
  return events.map(({ type }) => type);
}

export function parentOf(uid: string): string {
  return uid.slice(0, Math.max(uid.lastIndexOf("/"), 0));
}

/** Reads an installation's events from its database, with or without their numbers. */
function listen(transact: <T>(work: (tx: Database) => Promise<T>) => Promise<T>) {
  const known = new Set<string>();
  let text = "";
  const readNew = async (): Promise<EmittedEvent[]> => {
    const stored = await transact(async (tx): Promise<StoredEvent[]> => [
      ...(await tx.selectFrom("events").selectAll().orderBy("seq").execute()),
      ...(await tx.selectFrom("event_outbox").selectAll().orderBy("n").execute()),
    ]);
    const found = stored.filter(({ id }) => !known.has(id));
    for (const { id, actor, body } of found) {
      known.add(id);
      text += actor + body;
    }
    return found.map(({ type, subject, parent, target, actor, body }) => ({
      type,
      subject,
      group: parent,
      target,
      actor: JSON.parse(actor) as EmittedEvent["actor"],
      body: JSON.parse(body) as EmittedEvent["body"],
    }));
  };
  const pulls: EmittedEvent[] = [];
  const readNewWithoutPulls = async (): Promise<EmittedEvent[]> => {
    const found = await readNew();
    // Pulls are written a little later, so they do not belong to the call that was just made.
    pulls.push(...found.filter(({ type }) => type === PULL));
    return found.filter(({ type }) => type !== PULL);
  };
  return {
    /** The events that the work emitted, in order, without pulls. */
    async during(work: () => Promise<unknown>): Promise<EmittedEvent[]> {
      await readNewWithoutPulls();
      await work();
      return readNewWithoutPulls();
    },
    /** Waits for that many pulls. */
    async pulls(count: number): Promise<EmittedEvent[]> {
      return await eventually(async () => {
        await readNewWithoutPulls();
        return pulls.length >= count && pulls;
      });
    },
    /** The actors and bodies of all events so far, as JSON. */
    text: (): string => text,
  };
}
