// Unpacks the image of a layout for a processor: node .ci/unpack-image.ts <layout> <processor> <folder>
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

interface Manifest {
  manifests?: { digest: string; platform?: { architecture: string } }[];
  layers?: { digest: string }[];
}

const [layout = "", architecture = "", folder = ""] = process.argv.slice(2);
const fileOf = (digest: string): string => join(layout, "blobs", digest.replace(":", "/"));
const read = (path: string): Manifest => JSON.parse(readFileSync(path, "utf8")) as Manifest;

const [index] = read(join(layout, "index.json")).manifests ?? [];
const image = read(fileOf(index?.digest ?? "")).manifests?.find(
  ({ platform }) => platform?.architecture === architecture,
);
if (image === undefined) throw new Error(`there is no image for ${architecture}`);
mkdirSync(folder, { recursive: true });
for (const { digest } of read(fileOf(image.digest)).layers ?? []) {
  const args = [
    "--extract",
    "--gzip",
    "--same-owner",
    "--preserve-permissions",
    "--file",
    fileOf(digest),
    "-C",
    folder,
  ];
  const { status, stderr } = spawnSync("tar", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
}
