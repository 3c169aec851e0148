// Pushes an image of one layer that holds packages of npm, as the documents do:
// node examples/push-packages.ts https://registry.example.com TOKEN acme/web 1.0 lodash@4.17.20 left-pad@1.3.0
import { createHash } from "node:crypto";

const [url = "", token = "", image = "", tag = "", ...packages] = process.argv.slice(2);

async function send(method: string, path: string, body: Uint8Array<ArrayBuffer>, type: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, "content-type": type };
  const answer = await fetch(`${url}/v2/${image}/${path}`, { method, body, headers });
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
}

async function pushBlob(text: string, mediaType: string): Promise<{ mediaType: string; digest: string; size: number }> {
  const bytes = Buffer.from(text);
  const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
  await send("POST", `blobs/uploads/?digest=${digest}`, bytes, "application/octet-stream");
  return { mediaType, digest, size: bytes.length };
}

/** A file in a tar archive: its header of 512 bytes, and its text filled up to as many. Both are plain ASCII. */
function tarEntry(path: string, text: string): string {
  const size = text.length.toString(8).padStart(11, "0");
  const header = (sum: string): string =>
    `${path.padEnd(100, "\0")}0000644\0${"\0".repeat(16)}${size}\0${"0".repeat(11)}\0${sum}`.padEnd(512, "\0");
  const sum = Buffer.from(header(" ".repeat(8))).reduce((total, byte) => total + byte, 0);
  return header(`${sum.toString(8).padStart(6, "0")}\0 `) + text.padEnd(Math.ceil(text.length / 512) * 512, "\0");
}

const layer = packages.map((each) => {
  const at = each.lastIndexOf("@");
  const [name, version] = [each.slice(0, at), each.slice(at + 1)];
  return tarEntry(`app/node_modules/${name}/package.json`, JSON.stringify({ name, version }));
});
const config = { architecture: "amd64", os: "linux", config: { Labels: { packages: String(packages.length) } } };
const manifest = {
  schemaVersion: 2,
  mediaType: "application/vnd.oci.image.manifest.v1+json",
  config: await pushBlob(JSON.stringify(config), "application/vnd.oci.image.config.v1+json"),
  layers: [await pushBlob(`${layer.join("")}${"\0".repeat(1024)}`, "application/vnd.oci.image.layer.v1.tar")],
};
await send("PUT", `manifests/${tag}`, Buffer.from(JSON.stringify(manifest)), manifest.mediaType);
