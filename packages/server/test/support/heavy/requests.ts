// Manifests that name as much as they may. What names more is rejected by its count, before it is read.
import { createHash } from "node:crypto";
import type { HeavyInput } from "./input.ts";

const INDEX = "application/vnd.oci.image.index.v1+json";
const MANIFEST = "application/vnd.oci.image.manifest.v1+json";
/** An index has this many manifests at most. */
const MOST = 10_000;

const digestOf = (text: string): string => `sha256:${createHash("sha256").update(text).digest("hex")}`;

function indexOf(at: number): string {
  const children = Array.from({ length: MOST }, (_, n) => ({
    mediaType: MANIFEST,
    digest: digestOf(`child ${n} of ${at}`),
    size: 500,
  }));
  return JSON.stringify({ schemaVersion: 2, mediaType: INDEX, manifests: children });
}

export const REQUESTS: readonly HeavyInput[] = [
  {
    title: "an index of 10,000 manifests that are not there",
    statuses: [400, 404],
    pings: 1,
    async prepare(world) {
      let at = 0;
      return (began) => {
        at += 1;
        return world.send("PUT", `/v2/${world.organization.name}/heavy-${at}/manifests/v1`, {
          token: world.registry,
          headers: { "content-type": INDEX },
          body: indexOf(at),
          ...(began && { began }),
        });
      };
    },
  },
];
