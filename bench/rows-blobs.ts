import type { TransferResult } from "./blob.ts";
import { forgetPeak, peakMib } from "./processes.ts";
import { beginUpload, type Registry } from "./registries.ts";
import { type Bench, get, type Row, type Sample, type Section } from "./rows.ts";

const UP_GOAL = 1.5;
const DOWN_GOAL = 1.2;
const MIB = 2 ** 20;

/** Pushes a blob in one PUT; returns the time that it took, and the digest. */
async function up(
  { loader }: Pick<Bench, "loader">,
  registry: Registry,
  repository: string,
  bytes: number,
  seed: number,
): Promise<TransferResult> {
  const target = await beginUpload(registry, repository, "DIGEST");
  const head = `PUT ${target} HTTP/1.1\r\nhost: bench\r\n${registry.authorization}content-type: application/octet-stream\r\ncontent-length: ${bytes}\r\n\r\n`;
  return loader.blob({ direction: "up", port: registry.port, head, bytes, seed });
}

function down(
  { loader }: Pick<Bench, "loader">,
  registry: Registry,
  repository: string,
  bytes: number,
  digest: string,
): Promise<TransferResult> {
  return loader.blob({
    direction: "down",
    port: registry.port,
    head: get(`/v2/${repository}/blobs/${digest}`, registry.authorization),
    bytes,
    seed: 0,
  });
}

/** One body at a time, pushed and then pulled, a new one in each round. */
export function blobSection(bench: Bench): Section {
  const {
    sizes: { blobBytes },
    largest: { moorage },
    peers,
  } = bench;
  const repository = `${moorage.organization.name}/bench`;
  const what = `${blobBytes / MIB} MiB blob`;
  const sampled = async (registry: Registry, transfer: () => Promise<{ seconds: number }>): Promise<Sample> => {
    const before = registry.cpuUs();
    const { seconds } = await transfer();
    const after = registry.cpuUs();
    return {
      rate: blobBytes / 1e6 / seconds,
      ...(before !== undefined && after !== undefined && { cpuUs: (after - before) / (blobBytes / 1e6) }),
    };
  };
  const rowsOf = (registry: Registry): Row[] => {
    let newest = "";
    const against = (way: string, goal: number): Pick<Row, "against"> =>
      registry === moorage
        ? {
            against: peers.map((peer) => ({
              title: `${what} ${way}, ${peer.name}`,
              ...(peer.name === "docker-registry" && { goal }),
            })),
          }
        : {};
    return [
      {
        title: `${what} up, ${registry.name}`,
        unit: "MB/s",
        ...against("up", UP_GOAL),
        measure: ({ round }) =>
          sampled(registry, async () => {
            const { seconds, digest } = await up(bench, registry, repository, blobBytes, round);
            newest = digest;
            return { seconds };
          }),
      },
      {
        title: `${what} down, ${registry.name}`,
        unit: "MB/s",
        ...against("down", DOWN_GOAL),
        measure: () => sampled(registry, () => down(bench, registry, repository, blobBytes, newest)),
      },
    ];
  };
  return { title: "large blobs, SQLite and files", rows: [...peers, moorage].flatMap(rowsOf) };
}

export interface Peaks {
  small: number;
  large: number;
}

/** The maximum of resident memory while a blob is pushed and pulled, in MiB: for a small one and for a large one. */
export async function blobPeaks(
  bench: Pick<Bench, "loader" | "sizes">,
  registry: Registry,
  organization: string,
): Promise<Peaks> {
  const repository = `${organization}/peak`;
  const pid = registry.process.pid;
  const peakOf = async (bytes: number, seed: number): Promise<number> => {
    forgetPeak(pid);
    const { digest } = await up(bench, registry, repository, bytes, seed);
    await down(bench, registry, repository, bytes, digest);
    return peakMib(pid) ?? Number.NaN;
  };
  // The first transfer fills the buffers that are reused later.
  await peakOf(bench.sizes.smallBlobBytes, 1_001);
  return { small: await peakOf(bench.sizes.smallBlobBytes, 1_002), large: await peakOf(bench.sizes.blobBytes, 1_003) };
}
