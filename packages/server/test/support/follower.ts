import type { TestContext } from "node:test";
import { eventually } from "./eventually.ts";
import { type Installation, startInstallation } from "./installation.ts";
import { SOON } from "./replication.ts";

/** The state of a registry that is followed, from the API. */
interface FollowState {
  state: string;
  message: string;
  lastAttemptTime?: string;
  lastSuccessTime?: string;
  nextTime: string;
  consecutiveFailures: number;
  repositories: string;
  missingRepositories: string;
  tags: string;
  missingTags: string;
  heldDeletions: string;
}

/** A Moorage whose group acme/edge stands for a registry. */
export interface Follower {
  here: Installation;
  /** The uid of the group. */
  group: string;
  /** Makes the group stand for the registry. Answers the uid of the upstream. */
  follow(upstream: object): Promise<string>;
  state(uid: string): Promise<FollowState>;
  /** The state, when a turn has ended after the one that ended at `since`. */
  ended(uid: string, since?: string): Promise<FollowState>;
  /** Has another turn, and answers how it ended. */
  again(uid: string, force?: boolean): Promise<FollowState>;
  /** The tags of a repo below the group, by their names. */
  tags(name: string): Promise<string[]>;
}

const PATH = "/registry/v2/upstreams";

export async function startFollower(t: TestContext, env: Record<string, string> = {}): Promise<Follower> {
  const here = await startInstallation(t, { ...SOON, ...env });
  const organization = here.bootstrap.organization.uid;
  const group = (await here.api("POST", `/iam/v2/groups/${organization}`, { name: "edge" })).uid;
  const state = async (uid: string): Promise<FollowState> =>
    (await here.api<{ followState: FollowState }>("GET", `${PATH}/${uid}`)).followState;
  const ended: Follower["ended"] = (uid, since) =>
    eventually(async () => {
      const now = await state(uid);
      const isOver = !["SYNC_STATE_PENDING", "SYNC_STATE_RUNNING"].includes(now.state);
      return isOver && now.lastAttemptTime !== since && now;
    });
  return {
    here,
    group,
    follow: async (upstream) => (await here.api("POST", `${PATH}/${group}`, upstream)).uid,
    state,
    ended,
    async again(uid, force = false) {
      const { lastAttemptTime } = await ended(uid);
      await here.api("POST", `${PATH}/${uid}:follow`, { force });
      return await ended(uid, lastAttemptTime);
    },
    async tags(name) {
      const answer = await here.ask("GET", `/v2/acme/edge/${name}/tags/list`, { token: here.registry });
      return answer.status === 200 ? (JSON.parse(answer.text) as { tags: string[] }).tags : [];
    },
  };
}
