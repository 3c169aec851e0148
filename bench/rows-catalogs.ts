import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { CONFIG, contentOf } from "./images.ts";
import type { Moorage, Place } from "./moorage.ts";
import { ask, forgetPeak, mappedMib, peakMib, SERVER_CORE } from "./processes.ts";
import { queried } from "./query.ts";
import { realImage, type RealImage } from "./real-image.ts";
import { MANIFEST, pushBlob, tagImage } from "./registries.ts";
import { type Bench, count, type Row, type Sample, type Section, type Sizes } from "./rows.ts";
import type { UnpackAlone, UnpackResult } from "./unpack-alone.ts";

// Images that are read one after another: the time is from the end of the first to the end of the last.
const IMAGES = 4;
const LOOK_MS = 50;
const LONGEST_MS = 120_000;
const ALONE_TIMEOUT_MS = 60_000;
const MIB = 2 ** 20;
const LAYER = "application/vnd.oci.image.layer.v1.tar+gzip";

interface ReadingServer {
  moorage: Moorage;
  place: Place;
}

/** An image whose layers are in the registry, for manifests that name them. */
interface Pushed {
  image: RealImage;
  repository: string;
  config: object;
}

async function push({ moorage }: ReadingServer, image: RealImage): Promise<Pushed> {
  const repository = `${moorage.organization.name}/read-${Math.round(image.bytes / MIB)}`;
  for (const { bytes } of image.layers) await pushBlob(moorage, repository, bytes);
  const config = Buffer.from(
    JSON.stringify({ architecture: "amd64", os: "linux", rootfs: { type: "layers", diff_ids: [] } }),
  );
  return { image, repository, config: { mediaType: CONFIG, ...(await pushBlob(moorage, repository, config)) } };
}

/** Pushes manifests of the same layers; answers their digests. */
async function pushManifests(
  { moorage }: ReadingServer,
  { image, repository, config }: Pushed,
  name: string,
  images: number,
) {
  const layers = image.layers.map(({ digest, bytes }) => ({ mediaType: LAYER, digest, size: bytes.length }));
  const digests: string[] = [];
  for (let n = 0; n < images; n += 1) {
    const annotations = { "org.opencontainers.image.version": `${name}-${n}` };
    const text = JSON.stringify({ schemaVersion: 2, mediaType: MANIFEST, config, layers, annotations });
    const manifest = Buffer.from(text);
    await tagImage(moorage, repository, `${name}-${n}`, manifest);
    digests.push(contentOf(manifest).digest);
  }
  return digests;
}

/** Waits until the images were read; answers when, in milliseconds since 1970, in their order. */
async function untilRead({ place }: ReadingServer, digests: readonly string[], packages: number): Promise<number[]> {
  const among = `in (${digests.map((digest) => `'${digest}'`).join(", ")})`;
  for (const deadline = Date.now() + LONGEST_MS; Date.now() < deadline; await wait(LOOK_MS)) {
    const rows = await queried<{ state: number | string; reason: string; finish_time: number | string }>(
      place,
      `select state, reason, finish_time from image_catalogs where digest ${among} and state <> 1`,
    );
    const failed = rows.find(({ state }) => Number(state) === 3);
    if (failed !== undefined) throw new Error(`an image could not be read: ${failed.reason}`);
    if (rows.length < digests.length) continue;
    const [held] = await queried<{ n: number | string }>(
      place,
      `select count(*) as n from image_packages where digest ${among}`,
    );
    if (Number(held?.n) !== digests.length * packages)
      throw new Error(`${held?.n} packages of ${digests.length} images in place of ${packages} each`);
    return rows.map(({ finish_time: time }) => Number(time)).sort((a, b) => a - b);
  }
  throw new Error("the images were not read in time");
}

/** The reading of images, from their layers to the rows of their packages. */
export function catalogSection(bench: Bench): Section | undefined {
  const { engine, scratch, sizes, servers } = bench;
  const [smallest] = servers;
  if (smallest === undefined) return undefined;
  const server = { moorage: smallest.moorage, place: smallest.installation.place };
  const { moorage } = server;
  const what = `images of ${sizes.smallBlobBytes / MIB} MiB in 3 layers of gzip`;
  const own = `the layers of ${what}, unpacked by the same libraries alone, ${engine}`;
  let made: RealImage | undefined;
  const image = (): RealImage => (made ??= realImage(sizes.smallBlobBytes));
  let pushed: Pushed | undefined;
  const files: string[] = [];
  const rows: Row[] = [
    {
      title: own,
      unit: "MB/s",
      async prepare() {
        const folder = join(scratch, "layers");
        mkdirSync(folder, { recursive: true });
        for (const { digest, bytes } of image().layers) {
          const file = join(folder, digest.slice("sha256:".length));
          writeFileSync(file, bytes);
          files.push(file);
        }
      },
      async measure({ durationMs }): Promise<Sample> {
        const work: UnpackAlone = { files, durationMs };
        const timeoutMs = durationMs + ALONE_TIMEOUT_MS;
        const { bytes, perSecond, cpuUs } = await ask<UnpackResult>(SERVER_CORE, "unpack-alone.ts", work, timeoutMs);
        return { rate: (perSecond * bytes) / 1e6, cpuUs: cpuUs / (bytes / 1e6) };
      },
    },
    {
      title: `reading of ${what}, ${engine}`,
      unit: "MB/s",
      prepare: async () => void (pushed = await push(server, image())),
      async measure({ round }): Promise<Sample> {
        if (pushed === undefined) throw new Error("the layers were not pushed");
        const before = moorage.cpuUs();
        const digests = await pushManifests(server, pushed, `round-${round}`, IMAGES);
        const times = await untilRead(server, digests, pushed.image.packages);
        const after = moorage.cpuUs();
        const megabytes = pushed.image.bytes / 1e6;
        const seconds = ((times.at(-1) ?? Number.NaN) - (times[0] ?? Number.NaN)) / 1000;
        return {
          rate: ((IMAGES - 1) * megabytes) / seconds,
          ...(before !== undefined && after !== undefined && { cpuUs: (after - before) / (IMAGES * megabytes) }),
        };
      },
      against: [{ title: own }],
    },
  ];
  return { title: `reading of images, ${engine}`, rows };
}

/** The most memory of the server while it reads an image, without mapped files, in MiB: of a small and a large one. */
export async function catalogPeaks(
  { smallBlobBytes, blobBytes }: Sizes,
  server: ReadingServer,
): Promise<{ title: string; peakMib: number }[]> {
  const { pid } = server.moorage.process;
  const found: { title: string; peakMib: number }[] = [];
  for (const bytes of [smallBlobBytes, blobBytes]) {
    const pushed = await push(server, realImage(bytes));
    forgetPeak(pid);
    await untilRead(server, await pushManifests(server, pushed, "peak", 1), pushed.image.packages);
    const peak = (peakMib(pid) ?? Number.NaN) - (mappedMib(pid) ?? Number.NaN);
    found.push({
      title: `an image of ${bytes / MIB} MiB with ${count(pushed.image.packages)} packages`,
      peakMib: peak,
    });
  }
  return found;
}
