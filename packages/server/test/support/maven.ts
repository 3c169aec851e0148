import type { Answer, Platform } from "./platform.ts";

/** The path of a Maven repository's file below a group. */
export function mavenPath(group: string, path: string): string {
  return `/maven/${group}/-/${path}`;
}

/** A POM of a project with these coordinates. */
export function pomText(groupId: string, artifactId: string, version: string, description = ""): string {
  return `<?xml version="1.0"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>${groupId}</groupId>
  <artifactId>${artifactId}</artifactId>
  <version>${version}</version>
  <description>${description}</description>
</project>
`;
}

/** Puts a file as Maven does. */
export async function putMaven(
  platform: Platform,
  group: string,
  path: string,
  content: string | Uint8Array,
  token?: string,
): Promise<Answer> {
  return await platform.call("PUT", mavenPath(group, path), {
    token: token ?? (await platform.token()),
    raw: content,
    headers: { "content-type": "application/octet-stream" },
  });
}
