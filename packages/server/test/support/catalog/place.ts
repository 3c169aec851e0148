import type { Platform } from "../platform.ts";
import type { PushTarget } from "./push.ts";

/** A repo to push to. */
export interface Place extends PushTarget {
  repo: string;
}

let places = 0;

/** A new repo of the platform's organization, or of a new group in it. `token`: a registry token. */
export async function newRepoPlace(
  platform: Platform,
  token: string,
  { inOwnGroup = false } = {},
): Promise<Place & { group: string }> {
  const { uid: organization, name: root } = platform.bootstrap.organization;
  const image = `app-${(places += 1)}`;
  const { uid: group } = inOwnGroup ? await platform.group(organization, { name: image }) : { uid: organization };
  const { uid: repo } = await platform.repo(group, { name: image });
  const name = [root, ...(inOwnGroup ? [image] : []), image].join("/");
  return { url: platform.url, token, name, repo, group };
}
