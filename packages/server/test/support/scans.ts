import type { Json, Platform } from "./platform.ts";
import type { PushTarget } from "./catalog/push.ts";
import { eventually } from "./eventually.ts";

/** A repo of the organization, and where images are pushed to it. */
export async function scanPlace(platform: Platform, name: string): Promise<{ repo: string; place: PushTarget }> {
  const { url, owner, bootstrap, organization } = platform;
  const { uid: repo } = await platform.repo(organization, { name });
  const token = await platform.token(owner, { audience: new URL(url).host });
  return { repo, place: { url, token, name: `${bootstrap.organization.name}/${name}` } };
}

/** Requests scans of an image. Answers them as they are then. */
export async function requestScans(
  platform: Platform,
  repo: string,
  digest: string,
  more: object = {},
): Promise<Json[]> {
  return (await platform.ok("POST", `/vulnerabilities/v2/repos/${repo}:scan`, { digest, ...more }))["scans"] as Json[];
}

/** The scan as soon as it is in the state. */
export async function whenScan(platform: Platform, uid: string, state: string): Promise<Json> {
  const now = (): Promise<Json> => platform.ok<Json>("GET", `/vulnerabilities/v2/scans/${uid}`);
  return await eventually(
    async () => {
      const scan = await now();
      return scan["state"] === `SCAN_STATE_${state}` && scan;
    },
    { instead: now },
  );
}
