import type { Platform } from "../platform.ts";
import type { PushTarget } from "./push.ts";

/** A repo to push to. */
export interface Place extends PushTarget {
  repo: string;
}

let places = 0;

/** A new repo of the platform's organization. `token`: a registry token. */
export async function newRepoPlace(platform: Platform, token: string): Promise<Place> {
  const image = `app-${(places += 1)}`;
  const { uid: repo } = await platform.repo(platform.organization, { name: image });
  return { url: platform.url, token, name: `${platform.bootstrap.organization.name}/${image}`, repo };
}
