// Reads a whole image from a registry, every manifest and blob, and compares each with its digest:
//
//   TOKEN=… node .ci/clients/whole.ts http://127.0.0.1:8080/v2/acme/app sha256:…
//
// Prints a line for each, sorted. Fails when one is missing or does not match its digest.
import { createHash } from "node:crypto";

const MANIFESTS = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
  "application/vnd.docker.distribution.manifest.v2+json",
].join(", ");
const TIMEOUT_MS = 20_000;

type Descriptor = { readonly digest: string };
type Manifest = { readonly manifests?: Descriptor[]; readonly config?: Descriptor; readonly layers?: Descriptor[] };

const [repository, root] = process.argv.slice(2);
if (repository === undefined || root === undefined)
  throw new Error("usage: TOKEN=… whole.ts <url of the repository> <digest>");
const seen = new Map<string, string>();

async function read(kind: "manifests" | "blobs", digest: string): Promise<Buffer> {
  const response = await fetch(`${repository}/${kind}/${digest}`, {
    headers: { authorization: `Bearer ${process.env["TOKEN"] ?? ""}`, accept: MANIFESTS },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!response.ok) throw new Error(`${kind} ${digest}: status ${response.status}`);
  const content = Buffer.from(await response.arrayBuffer());
  if (`sha256:${createHash("sha256").update(content).digest("hex")}` !== digest)
    throw new Error(`${kind} ${digest}: it is something else`);
  seen.set(digest, kind);
  return content;
}

async function readImage(digest: string): Promise<void> {
  const { manifests = [], config, layers = [] } = JSON.parse((await read("manifests", digest)).toString()) as Manifest;
  for (const child of manifests) await readImage(child.digest);
  for (const blob of config === undefined ? layers : [config, ...layers]) await read("blobs", blob.digest);
}

await readImage(root);
if (![...seen.values()].includes("blobs")) throw new Error(`${root} has no blobs`);
for (const [digest, kind] of [...seen].sort()) console.log(`${kind} ${digest}`);
