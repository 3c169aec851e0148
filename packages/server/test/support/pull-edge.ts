import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { eventually } from "./eventually.ts";
import { sendStatus } from "./fake-source.ts";
import { startFollower } from "./follower.ts";
import { type Installation, startInstallation } from "./installation.ts";
import { makePullToken } from "./pull-token.ts";
import { type Front, startFront } from "./upstream.ts";

/** Log-ins and pulls as a client makes them, below the group that follows the center. */
export function clientOf({ ask }: Pick<Installation, "ask">) {
  const login = async (basic: string, ...names: string[]) => {
    const scopes = names.map((name) => `scope=repository:${name}:pull,push`).join("&");
    const answer = await ask("GET", `/token?${scopes}`, { basic });
    const token = String((answer.json as { token?: string }).token);
    const claims =
      answer.status === 200
        ? (JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as {
            access: { name: string; actions: string[] }[];
          })
        : { access: [] };
    const granted = claims.access.map(({ name, actions }) => `${name}:${actions.join(",")}`);
    return { status: answer.status, text: answer.text, token, granted };
  };
  return {
    login,
    /** The status of a log-in, and of the pull of tag 1 with what it gave. */
    pull: async (basic: string, name: string): Promise<number[]> => {
      const { status, token } = await login(basic, name);
      return [status, (await ask("GET", `/v2/${name}/manifests/1`, { token })).status];
    },
  };
}

/** A center with acme/app and acme/team/x, and an edge whose group acme/edge follows it. */
export async function startPullEdge(t: TestContext) {
  const center = await startInstallation(t);
  const front = await startFront(t, center.url);
  const organization = center.bootstrap.organization.uid;
  const { uid: team } = await center.api("POST", `/iam/v2/groups/${organization}`, { name: "team" });
  for (const name of ["acme/app", "acme/team/x"]) await center.pushImage(name, "1", name);
  const follower = await startFollower(t);
  const password = center.platform;
  const { here } = follower;
  const followed = async (group: string, more: object = {}): Promise<string> => {
    const upstream = { registry: front.url, prefix: "acme", username: "robot", password, follow: {}, ...more };
    const { uid } = await here.api("POST", `/registry/v2/upstreams/${group}`, upstream);
    const { state, message } = await follower.ended(uid);
    assert.equal(state, "SYNC_STATE_SUCCEEDED", message);
    return uid;
  };
  const uid = await followed(follower.group);
  front.seen.length = 0;
  return {
    center,
    front,
    here,
    uid,
    team,
    organization,
    /** Makes a group `acme/<name>` that follows as well: by default the center, as acme/edge does. */
    followAs: async (name: string, more: object = {}): Promise<string> => {
      const { uid: group } = await here.api("POST", `/iam/v2/groups/${here.bootstrap.organization.uid}`, { name });
      return await followed(group, more);
    },
    /** How many log-ins the center was asked about since the last call. */
    asked: () => askedOf(front),
    make: (group: string, more: object = {}) => makePullToken(center, { group, host: front.host, ...more }),
    revoke: ({ identity }: { identity: string }) => center.api("DELETE", `/iam/v2/identities/${identity}`),
    away: () => void (front.intercept = (_req, res) => sendStatus(res, 503)),
    back: () => void (front.intercept = () => false),
    ...clientOf(here),
  };
}

/** How many log-ins the registry was asked about since the last call, beside those of the edge itself. */
export function askedOf({ seen }: Front): number {
  return seen
    .splice(0)
    .filter(({ path, authorization = "" }) => path.startsWith("/token") && userOf(authorization) !== "robot").length;
}

function userOf(authorization: string): string {
  const [user = ""] = Buffer.from(authorization.replace("Basic ", ""), "base64").toString().split(":", 1);
  return user;
}

/** Logs in until the center is asked again, which it is not for seconds after it did not answer. */
export async function untilAsked<T extends { status: number }>(login: () => Promise<T>, status: number): Promise<T> {
  return await eventually(async () => {
    const answer = await login();
    return answer.status === status && answer;
  });
}
