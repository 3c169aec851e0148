import type { TestContext } from "node:test";
import { eventually } from "./eventually.ts";
import { type Installation, startInstallation } from "./installation.ts";
import { LOOPBACK } from "./mirror.ts";
import { type Front, startFront } from "./upstream.ts";

interface Rule {
  uid: string;
  state: {
    pending: string;
    running: string;
    failed: string;
    blocked: string;
    bytes: string;
    late?: string;
    lastSuccessTime?: string;
    lastError: string;
  };
}

interface Item {
  repository: string;
  tag: string;
  digest: string;
  state: string;
  attempts: number;
  nextTime?: string;
  message: string;
  bytes: string;
}

/** A Moorage that pushes, and one that is pushed to, behind a proxy whose failures the test sets. */
export interface Replicas {
  here: Installation;
  there: Installation;
  front: Front;
  /** Makes a rule of the organization here; what it pushes is below acme/copy there. */
  rule(change?: object): Promise<Rule>;
  read(uid: string): Promise<Rule>;
  items(uid: string): Promise<Item[]>;
  /** The rule, when nothing of it waits or is under way. */
  settled(uid: string): Promise<Rule>;
  /** What a tag points to there; undefined for nothing. */
  digestThere(name: string, tag: string): Promise<string | undefined>;
}

const PATH = "/registry/v2/replications";

/** Settings by which work is looked for often. */
export const SOON = { ...LOOPBACK, MOORAGE_WORK_POLL: "50ms" };

export async function startReplicas(t: TestContext, env: Record<string, string> = SOON): Promise<Replicas> {
  const there = await startInstallation(t);
  const front = await startFront(t, there.url);
  const here = await startInstallation(t, env);
  const read: Replicas["read"] = (uid) => here.api<Rule>("GET", `${PATH}/${uid}`);
  return {
    here,
    there,
    front,
    read,
    rule: async (change = {}) =>
      await here.api<Rule>("POST", `${PATH}/${here.bootstrap.organization.uid}`, {
        name: "elsewhere",
        destination: `${front.url}/acme/copy`,
        username: "robot",
        password: there.platform,
        onPush: true,
        ...change,
      }),
    items: async (uid) => (await here.api<{ items: Item[] }>("GET", `${PATH}/${uid}/items`)).items,
    settled: (uid) =>
      eventually(async () => {
        const rule = await read(uid);
        return rule.state.pending === "0" && rule.state.running === "0" && rule;
      }),
    async digestThere(name, tag) {
      const answer = await there.ask("HEAD", `/v2/acme/copy/${name}/manifests/${tag}`, { token: there.registry });
      return answer.status === 200 ? (answer.headers.get("docker-content-digest") ?? "") : undefined;
    },
  };
}
