import type { TestContext } from "node:test";
import type { Bootstrap } from "../../src/index.ts";
import { eventually } from "./eventually.ts";
import { type Installation, startInstallation } from "./installation.ts";
import { SOON } from "./replication.ts";
import { type Front, startFront } from "./upstream.ts";

/** A tag that is replicated, from the API. */
export interface Item {
  repository: string;
  tag: string;
  digest: string;
  state: string;
  message: string;
}

/** A Moorage that the other one pushes to, behind a proxy that sees its requests, wherever it runs. */
export interface TwoWaySide {
  url: string;
  bootstrap: Bootstrap;
  front: Front;
  /** What the other one pushes as. */
  identity: string;
  /** Its rule by which it pushes to the other one. */
  rule: string;
  /** Calls the platform API as the owner. */
  api<T>(method: string, path: string, json?: unknown): Promise<T>;
  items(): Promise<Item[]>;
  digestOf(name: string, tag: string): Promise<string | undefined>;
}

/** One that runs in the process of the test. */
export type Side = Installation & TwoWaySide;

interface Named {
  uid: string;
  name: string;
}

const PATH = "/registry/v2/replications";

/** Two installations whose organizations are replicated to each other by rules with these fields. */
export async function startTwoWays(t: TestContext, fields: object): Promise<[Side, Side]> {
  const one = await startSide(t);
  const other = await startSide(t);
  await replicate(one, other, fields);
  return [one, other];
}

/** Makes the rules by which each pushes to the other, and the identities that it takes. */
export async function replicate(one: TwoWaySide, other: TwoWaySide, fields: object): Promise<void> {
  await admit(one, other);
  await admit(other, one);
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    const rule = await from.api<Named>("POST", `${PATH}/${from.bootstrap.organization.uid}`, {
      name: "other",
      destination: `${to.front.url}/acme`,
      destinationIdentity: to.identity,
      onPush: true,
      ...fields,
    });
    from.rule = rule.uid;
  }
}

async function startSide(t: TestContext): Promise<Side> {
  const installation = await startInstallation(t, SOON);
  const front = await startFront(t, installation.url);
  const side: Side = {
    ...installation,
    front,
    identity: "",
    rule: "",
    items: async () => (await side.api<{ items: Item[] }>("GET", `${PATH}/${side.rule}/items?pageSize=200`)).items,
    async digestOf(name, tag) {
      const { status, headers } = await side.ask("HEAD", `/v2/${name}/manifests/${tag}`, { token: side.registry });
      return status === 200 ? (headers.get("docker-content-digest") ?? "") : undefined;
    },
  };
  return side;
}

/** Makes the identity by which the other installation's organization may push, and say when its tags moved. */
async function admit(side: TwoWaySide, other: TwoWaySide): Promise<void> {
  const group = side.bootstrap.organization.uid;
  const claimMatch = {
    issuer: other.url,
    subject: `replication:${other.bootstrap.organization.uid}`,
    audience: side.front.url,
  };
  const { uid } = await side.api<Named>("POST", `/iam/v2/identities/${group}`, { name: "other", claimMatch });
  const role = await side.api<Named>("POST", `/iam/v2/roles/${group}`, {
    name: "replicates",
    capabilities: ["CAP_TAG_IMPORT", "CAP_TAG_DELETE"],
  });
  const { roles } = await side.api<{ roles: Named[] }>("GET", "/iam/v2/roles?page_size=200");
  const push = roles.find(({ name }) => name === "registry.push")?.uid;
  for (const roleUid of [role.uid, push])
    await side.api("POST", `/iam/v2/roleBindings/${group}`, { identityUid: uid, roleUid });
  side.identity = uid;
}

/** Both sides, when all of their items are at what their tags point to, and both have the same. */
export async function settledSides(sides: readonly [TwoWaySide, TwoWaySide]): Promise<Map<string, string>> {
  return await eventually(async () => {
    const [one, other] = [await itemsAt(sides[0]), await itemsAt(sides[1])];
    if (one === undefined || other === undefined || one.size !== other.size) return false;
    for (const [key, digest] of one) if (other.get(key) !== digest) return false;
    return one;
  });
}

async function itemsAt(side: TwoWaySide): Promise<Map<string, string> | undefined> {
  const found = new Map<string, string>();
  for (const { repository, tag, digest, state } of await side.items()) {
    if (state !== "REPLICATION_ITEM_STATE_DONE") return undefined;
    if (((await side.digestOf(`acme/${repository}`, tag)) ?? "") !== digest) return undefined;
    found.set(`${repository}:${tag}`, digest);
  }
  return found.size === 0 ? undefined : found;
}
