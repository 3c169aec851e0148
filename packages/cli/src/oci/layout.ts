import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { descriptor, MEDIA_TYPE, type Content, type MultiImage } from "./image.ts";

/**
 * Writes an image as an OCI image layout (OCI image specification 1.1), which skopeo, crane, podman, buildah and oras
 * can read, under the reference name `latest` (`oci:<folder>:latest`). Existing files are overwritten.
 */
export async function writeLayout(folder: string, { images, index }: MultiImage): Promise<void> {
  const blobsFolder = join(folder, "blobs", "sha256");
  await mkdir(blobsFolder, { recursive: true });
  const write = (piece: Content): Promise<void> =>
    writeFile(join(blobsFolder, piece.digest.slice("sha256:".length)), piece.bytes);
  await Promise.all([...images.flatMap((image) => [...image.blobs, image.manifest]), index].map(write));
  const manifests = [{ ...descriptor(index), annotations: { "org.opencontainers.image.ref.name": "latest" } }];
  await writeFile(join(folder, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  await writeFile(
    join(folder, "index.json"),
    JSON.stringify({ schemaVersion: 2, mediaType: MEDIA_TYPE.index, manifests }),
  );
}
