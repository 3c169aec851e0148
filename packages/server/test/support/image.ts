import { createHash } from "node:crypto";
import type { Platform } from "./platform.ts";

const TYPE = "application/vnd.oci.image.manifest.v1+json";

/** Pushes an image of two blobs to `<organization>/<image>`, with those labels. Returns its digest. */
export async function pushImage(platform: Platform, name: string, tag: string, labels?: object): Promise<string> {
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  const push = async (method: string, path: string, raw: string, type: string): Promise<string> => {
    const answer = await platform.call(method, path, { token, raw, headers: { "content-type": type } });
    if (answer.status !== 201) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return digestOf(raw);
  };
  const blob = (content: string): Promise<string> =>
    push("POST", `/v2/${name}/blobs/uploads/?digest=${digestOf(content)}`, content, "application/octet-stream");
  const config = JSON.stringify({ architecture: "amd64", os: "linux", ...(labels && { config: { Labels: labels } }) });
  const layer = "layer";
  return await push(
    "PUT",
    `/v2/${name}/manifests/${tag}`,
    JSON.stringify({
      schemaVersion: 2,
      mediaType: TYPE,
      config: {
        mediaType: "application/vnd.oci.image.config.v1+json",
        digest: await blob(config),
        size: config.length,
      },
      layers: [{ mediaType: "application/vnd.oci.image.layer.v1.tar", digest: await blob(layer), size: layer.length }],
    }),
    TYPE,
  );
}

function digestOf(content: string): string {
  return `sha256:${createHash("sha256").update(content).digest("hex")}`;
}
