import { type Client, openClient } from "../api-client.ts";
import type { Replicas } from "../replicas.ts";
import { MALICE } from "./malice.ts";
import type { Trust } from "./records.ts";

/** A group and its repo. */
export interface Place {
  organization: number;
  group: string;
  repo: string;
  path: string;
}

/** A subscription: the events that it may get, and whether it must get them. */
export interface Listener {
  /** The path of its receiver. */
  at: string;
  uid: string;
  group: string;
  typePrefixes: string[];
  subjectPrefixes: string[];
  /** Whether its receiver accepts every event in the end. */
  takes: boolean;
}

export interface World {
  places: Place[];
  listeners: Listener[];
  trust: Record<string, Trust>;
}

/** Calls the API; any server may answer. */
export interface Api {
  client: Client;
  call<T>(method: string, target: string, body?: object): Promise<T>;
}

interface Wanted {
  at: string;
  group: string;
  typePrefixes?: string[];
  subjectPrefixes?: string[];
  takes?: boolean;
  sink?: string;
}

// No process listens on this port: it is reserved for the discard service (RFC 863).
const DEAD_SINK = "http://127.0.0.1:9/dead";
const TAGS = "dev.moorage.api.platform.registry.tag.";
const PUSHES = "dev.moorage.registry.push.";

export function apiOf({ url, platform }: Pick<Replicas, "url" | "platform">): Api {
  const client = openClient(url);
  return {
    client,
    async call<T>(method: string, target: string, body?: object): Promise<T> {
      const sent =
        body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
      const reply = await client.ask(method, target, { token: platform, ...sent });
      if (reply.status !== 200) throw new Error(`${method} ${target}: ${reply.status} ${reply.body.toString()}`);
      return JSON.parse(reply.body.toString()) as T;
    },
  };
}

/**
 * Creates organizations with three groups, a parent, its child and a sibling, each with a repo; and subscriptions on
 * all levels. `sinks`: the receivers' URL.
 */
export async function makeWorld(
  api: Api,
  first: { uid: string; name: string },
  organizations: number,
  sinks: string,
): Promise<World> {
  const make = <T extends object>(collection: string, parent: string, fields: object): Promise<T & { uid: string }> =>
    api.call("POST", `${collection}${parent === "" ? "" : `/${parent}`}`, fields);
  const groupOf = (parent: string, name: string) => make("/iam/v2/groups", parent, { name });
  const world: World = { places: [], listeners: [], trust: {} };
  const listen = async ({
    at,
    group,
    typePrefixes = [],
    subjectPrefixes = [],
    takes = true,
    sink = `${sinks}/${at}`,
  }: Wanted): Promise<void> => {
    const { uid, secret } = await make<{ secret: string }>("/events/v2/subscriptions", group, {
      sink,
      typePrefixes,
      subjectPrefixes,
    });
    world.listeners.push({ at, uid, group, typePrefixes, subjectPrefixes, takes });
    world.trust[at] = { group, secret };
  };
  for (let number = 0; number < organizations; number++) {
    const root = number === 0 ? first : { name: `storm-${number}`, ...(await groupOf("", `storm-${number}`)) };
    // Created before the first repo, so it gets every event of the repos.
    await listen({ at: `healthy/${root.name}`, group: root.uid });
    const parent = await groupOf(root.uid, "parent");
    const [child, sibling] = [await groupOf(parent.uid, "child"), await groupOf(root.uid, "sibling")];
    for (const [path, { uid }] of [
      ["parent", parent],
      ["parent/child", child],
      ["sibling", sibling],
    ] as const) {
      const repo = await make("/registry/v2/repos", uid, { name: "app" });
      world.places.push({ organization: number, group: uid, repo: repo.uid, path: `${root.name}/${path}/app` });
      if (number === 0) await listen({ at: `healthy/${root.name}/${path}`, group: uid });
    }
    const [, inChild, beside] = world.places.slice(-3);
    if (number === 0) await listen({ at: "slow", group: sibling.uid, typePrefixes: [TAGS] });
    if (number === 0) await listen({ at: "flapping/all", group: child.uid });
    if (number === 1)
      await listen({ at: "flapping/one-repo", group: root.uid, subjectPrefixes: [inChild?.repo ?? ""] });
    if (number === 1) await listen({ at: "dead", group: root.uid, sink: DEAD_SINK, takes: false });
    const behaviors = number === organizations - 1 ? Object.keys(MALICE) : [];
    for (const each of behaviors)
      await listen({
        at: `malicious/${each}`,
        group: sibling.uid,
        typePrefixes: [PUSHES],
        subjectPrefixes: [beside?.repo ?? ""],
        takes: false,
      });
  }
  return world;
}
