// Clients that pull and push at the same time, over raw sockets: an operation is the pull of a whole image, or the push
// of a new one. Each client does one after another; which images are pulled, and where pushes go, is by Zipf's law.
import { type Connection, openConnection } from "./connection.ts";
import { prepareImage } from "./images.ts";
import { answered, type LoadResult, measure } from "./load.ts";
import { type PushLoad, pushOver, pushTags } from "./push.ts";
import { MANIFEST } from "./registries.ts";

export interface OperationsLoad extends Pick<PushLoad, "port" | "authorization" | "layers" | "layerBytes"> {
  /** Each holds the image that `stockImages` pushed; the first is the most popular. */
  repositories: string[];
  clients: number;
  /** How many of a hundred operations are pushes. */
  pushPercent: number;
  /** Different from that of every other run at the same registry: the bytes of what is pushed depend on it. */
  name: string;
  durationMs: number;
}

/** The paths of a pull, in the order in which a client asks for them. */
interface Pull {
  manifest: string;
  byDigest: string;
  blobs: string[];
}

/** The tag under which each repository holds its image. */
const TAG = "latest";
const PUSHER = "containerd";
const HUNDRED = 100;
// Of the share of pushes and of the popularity: the same in every run, and another for each client.
const SEED = 0x9e3779b9;

/** Pushes an image into each of the repositories. */
export async function stockImages(load: Omit<OperationsLoad, "clients" | "pushPercent" | "name" | "durationMs">) {
  for (const repository of load.repositories)
    await pushTags({ ...load, client: PUSHER }, repository, [TAG], nameOf(repository));
}

/** Runs operations until the time is over, and those in progress to their end. */
export function runOperations(load: OperationsLoad): Promise<LoadResult> {
  const pulls = load.repositories.map((repository) => pullOf(load, repository));
  const popular = popularity(pulls.length);
  return measure(load.durationMs, (counts, fail) =>
    Array.from({ length: load.clients }, (_, index) => {
      const connection = openConnection(load.port);
      const dice = diceOf(SEED * (index + 1));
      const operate = async (number: number): Promise<void> => {
        const at = popular(dice());
        if (dice() * HUNDRED >= load.pushPercent) return pullOver(connection, load, pulls[at]);
        const tag = `${load.name}-${index}-${number}`;
        const image = prepareImage(tag, load.layers, load.layerBytes);
        await pushOver(connection, { ...load, client: PUSHER }, load.repositories[at] ?? "", tag, image);
      };
      const run = async (): Promise<void> => {
        for (let number = 0, goesOn = true; goesOn; number += 1) {
          counts.underWay += 1;
          try {
            await operate(number);
          } catch (error) {
            if (connection.socket.destroyed) throw error;
            counts.failures += 1;
            counts.firstFailure ||= error instanceof Error ? error.message : String(error);
          }
          goesOn = answered(counts);
        }
      };
      run().catch(fail);
      return connection.socket;
    }),
  );
}

/** The bytes of the image of a repository depend on its name alone, so that whoever pulls knows its digests. */
function nameOf(repository: string): string {
  return `mixed ${repository}`;
}

function pullOf({ layers, layerBytes }: OperationsLoad, repository: string): Pull {
  const image = prepareImage(nameOf(repository), layers, layerBytes);
  return {
    manifest: `/v2/${repository}/manifests/${TAG}`,
    byDigest: `/v2/${repository}/manifests/${image.manifest.digest}`,
    blobs: [image.config, ...image.layers].map(({ digest }) => `/v2/${repository}/blobs/${digest}`),
  };
}

/** The requests of containerd: the tag's digest by HEAD, the manifest by that digest, the configuration, the layers. */
async function pullOver(
  connection: Connection,
  { authorization }: Pick<OperationsLoad, "authorization">,
  pull: Pull | undefined,
): Promise<void> {
  const ask = async (method: string, path = ""): Promise<void> => {
    const head = `${method} ${path} HTTP/1.1\r\nhost: bench\r\naccept: ${MANIFEST}\r\n${authorization}\r\n`;
    const { status, text } = await connection.exchange(Buffer.from(head, "latin1"), method);
    if (status !== 200) throw new Error(`${method} ${path}: ${text.slice(0, 600)}`);
  };
  await ask("HEAD", pull?.manifest);
  await ask("GET", pull?.byDigest);
  for (const path of pull?.blobs ?? []) await ask("GET", path);
}

/** Zipf's law: the nth of them is asked for 1/n times as often as the first. Takes a number from 0 to below 1. */
function popularity(length: number): (dice: number) => number {
  let sum = 0;
  const sums = Array.from({ length }, (_, at) => (sum += 1 / (at + 1)));
  return (dice) => sums.findIndex((upTo) => dice * sum < upTo);
}

/** Numbers from 0 to below 1. Source: the generator mulberry32, in the public domain. */
function diceOf(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
