// Bodies of the registry and the API that are as large, or say as much, as they may.
import { createHash } from "node:crypto";
import type { HeavyInput, HeavyWorld } from "./input.ts";

const MIB = 1 << 20;
const INDEX = "application/vnd.oci.image.index.v1+json";
const MANIFEST = "application/vnd.oci.image.manifest.v1+json";
/** A manifest has 4 MiB at most. */
const MANIFEST_BYTES = 4 * MIB - 1_024;
/** A request has 20,000 values at most, and a body of 1 MiB. */
const VALUES = 19_900;

const digestOf = (text: string): string => `sha256:${createHash("sha256").update(text).digest("hex")}`;
const json = { "content-type": "application/json" };

/** Pushes the manifest that the text is, to a tag of a new repo each time. */
function pushed(
  title: string,
  statuses: readonly number[],
  manifest: { type: string; text(at: number): string },
): HeavyInput {
  return {
    title,
    statuses,
    async prepare(world: HeavyWorld) {
      let at = 0;
      return (began) => {
        at += 1;
        return world.send("PUT", `/v2/${world.organization.name}/heavy-${at}/manifests/v1`, {
          token: world.registry,
          headers: { "content-type": manifest.type },
          body: manifest.text(at),
          ...(began && { began }),
        });
      };
    },
  };
}

/** As many of them as fit into a manifest. */
function filled(member: (n: number) => string): string {
  const parts: string[] = [];
  for (let bytes = 0, n = 0; ; n += 1) {
    const part = member(n);
    bytes += part.length + 1;
    if (bytes > MANIFEST_BYTES) return parts.join(",");
    parts.push(part);
  }
}

const children = (): string =>
  filled((n) => `{"mediaType":"${MANIFEST}","digest":"${digestOf(`child ${n}`)}","size":500}`);

export const REQUESTS: readonly HeavyInput[] = [
  pushed("an index of 4 MiB of manifests that are not there", [400], {
    type: INDEX,
    text: (at) => `{"schemaVersion":2,"mediaType":"${INDEX}","annotations":{"at":"${at}"},"manifests":[${children()}]}`,
  }),
  pushed("an index with 4 MiB of annotations", [400], {
    type: INDEX,
    text: (at) =>
      `{"schemaVersion":2,"mediaType":"${INDEX}","manifests":[],"annotations":{${filled((n) => `"a${n}":"${at}"`)}}}`,
  }),
  pushed("a manifest of 4 MiB of empty lists", [400], {
    type: MANIFEST,
    text: (at) =>
      `{"schemaVersion":2,"mediaType":"${MANIFEST}","annotations":{"at":"${at}"},"x":[${filled(() => "[]")}]}`,
  }),
  {
    title: "a request of 19,900 values",
    statuses: [400, 403, 404, 200],
    pings: 1,
    async prepare(world) {
      const claims = Array.from({ length: VALUES / 2 }, (_, n) => [`claim${n}`, "value"]);
      const body = JSON.stringify({
        name: "heavy",
        claimMatch: { issuer: "https://issuer.example", subject: "s", claims: Object.fromEntries(claims) },
      });
      return (began) =>
        world.send("POST", `/iam/v2/identities/${world.organization.uid}`, {
          token: world.platform,
          headers: json,
          body,
          ...(began && { began }),
        });
    },
  },
];
