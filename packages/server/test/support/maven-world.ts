import type { TestContext } from "node:test";
import { mavenPath, putMaven } from "./maven.ts";
import { type MavenUpstream, startMavenUpstream } from "./maven-upstream.ts";
import type { Answer, Platform } from "./platform.ts";

/** A group with an upstream of its own. */
export interface MavenWorld {
  upstream: MavenUpstream;
  /** The uid of the group. */
  uid: string;
  get(path: string, method?: string): Promise<Answer>;
  put(path: string, content: string): Promise<Answer>;
  /** The requests that the upstream has got, without those for sums. */
  seen(): string[];
}

/** `settings`: fields of the upstream. */
export async function startMavenWorld(t: TestContext, platform: Platform, settings: object = {}): Promise<MavenWorld> {
  const upstream = await startMavenUpstream();
  t.after(() => upstream.close());
  const { uid, name } = await platform.group(platform.organization);
  await platform.ok("POST", `/libraries/v2/upstreams/${uid}`, {
    ecosystem: "ECOSYSTEM_JAVA",
    url: upstream.url,
    ...settings,
  });
  const group = `acme/${name}`;
  return {
    upstream,
    uid,
    get: async (path, method = "GET") =>
      platform.call(method, mavenPath(group, path), { token: await platform.token() }),
    put: (path, content) => putMaven(platform, group, path, content),
    seen: () => upstream.seen.filter((line) => !/\.(sha\d+|md5)$/.test(line)),
  };
}

/** The versions that the metadata of an artifact lists. */
export function versionsIn({ text }: Answer): string[] {
  return [...text.matchAll(/<version>(.*)<\/version>/g)].map(([, version]) => version ?? "");
}
