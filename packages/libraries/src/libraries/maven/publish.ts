import type { StoredBlob } from "@moorage/kernel/blobs";
import { bodyOf, wholeBodyOf } from "@moorage/registry/oci";
import { fileNamed } from "../artifacts/visible.ts";
import { artifactNamed } from "../artifacts/names.ts";
import { libraryError } from "../http/errors.ts";
import { type LibraryExchange, read } from "../requests/exchange.ts";
import { dropFile, receiveFile, type ReceivedFile } from "../http/receive.ts";
import { answerPublish, type TakenFile } from "../requests/publish.ts";
import { send } from "../requests/send.ts";
import { XML_COST } from "../reading/limits.ts";
import { ReadingError } from "../reading/reading-error.ts";
import { type MavenPath, nameOf } from "./paths.ts";
import { type MavenState, pluginOfJar, pluginOfPom } from "./plugins.ts";
import type { Pom } from "./pom.ts";
import type { PomMetadata } from "./pom-facts.ts";
import { sumOf } from "./send.ts";
import { snapshotFileOf } from "./snapshots.ts";
import { pom as pomTask } from "./tasks.ts";

const MAX_SUM_BYTES = 1024;
const MAX_POM_BYTES = 4 * 1024 * 1024;
const MAX_METADATA_BYTES = 16 * 1024 * 1024;

/** PUT of a file, of a sum of one, or of metadata. */
export async function deploy(exchange: LibraryExchange, path: MavenPath): Promise<void> {
  await answerPublish(exchange, path.group, {
    async take({ group }) {
      if (path.kind !== "file") return await passMetadata(exchange);
      if (path.sum !== undefined) return await checkSum(exchange, group, path);
      return await takeFile(exchange, path);
    },
    done: () => created(exchange),
  });
}

/** Metadata is made of the files that are there: what a client sends of it is read, and not kept. */
async function passMetadata(exchange: LibraryExchange): Promise<undefined> {
  let bytes = 0;
  for await (const chunk of bodyOf(exchange)) {
    bytes += chunk.byteLength;
    if (bytes > MAX_METADATA_BYTES) throw tooLarge(MAX_METADATA_BYTES);
  }
  created(exchange);
}

/** A sum that a client sends after a file must be the file's. */
async function checkSum(
  exchange: LibraryExchange,
  group: string,
  path: MavenPath & { kind: "file" },
): Promise<undefined> {
  const { version, file, sum = "sha1" } = path;
  const body = await wholeBodyOf(exchange, MAX_SUM_BYTES, () => tooLarge(MAX_SUM_BYTES));
  const [given = ""] = body.toString("latin1").trim().toLowerCase().split(/\s/);
  const found = await read(exchange, async (call) => {
    const { ecosystem } = exchange;
    const artifact = await artifactNamed(call.tx, { group, ecosystem, normalized: nameOf(path) });
    return artifact && (await fileNamed(call.tx, artifact.uid, `${version}/${file}`));
  });
  if (found === undefined) throw libraryError(404, `Not found: ${file}: its ${sum} comes after the file`);
  if (sumOf(found.file, sum) !== given)
    throw libraryError(409, `Aborted: the ${sum} is not that of ${file}, which has ${sumOf(found.file, sum)}`);
  created(exchange);
}

async function takeFile(exchange: LibraryExchange, path: MavenPath & { kind: "file" }): Promise<TakenFile> {
  const { blobs, config } = exchange.deps;
  const { version, file } = path;
  const isPom = file.endsWith(".pom");
  const kept: Buffer[] = [];
  const maxBytes = isPom ? Math.min(MAX_POM_BYTES, config.maxLibraryFileBytes) : config.maxLibraryFileBytes;
  const received = await receiveFile(blobs, isPom ? keeping(bodyOf(exchange), kept) : bodyOf(exchange), { maxBytes });
  const said = isPom ? await readPom(exchange, received, Buffer.concat(kept)) : undefined;
  return {
    received,
    describe: async (blob) => ({
      name: nameOf(path),
      normalized: nameOf(path),
      version,
      description: said?.summary,
      // A POM may come after other files of its version.
      redescribes: true,
      about: await pluginOf(exchange, path, said, blob),
      file: {
        name: `${version}/${file}`,
        ...(said !== undefined && { metadata: JSON.stringify({ packaging: said.packaging } satisfies PomMetadata) }),
      },
    }),
  };
}

/** Passes the chunks on, and keeps a copy of each. */
async function* keeping(source: AsyncIterable<Uint8Array>, kept: Buffer[]): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    kept.push(Buffer.from(chunk));
    yield chunk;
  }
}

/** What a POM says. Throws 400 for what is no POM, and forgets the file. */
async function readPom({ deps }: LibraryExchange, received: ReceivedFile, bytes: Buffer): Promise<Pom> {
  try {
    const pom = await deps.reading.run(pomTask, { bytes }, bytes.length * XML_COST);
    if (pom !== undefined) return pom;
  } catch (error) {
    await dropFile(deps.blobs, received);
    throw error instanceof ReadingError ? libraryError(413, `Invalid argument: body: ${error.fault}`) : error;
  }
  await dropFile(deps.blobs, received);
  throw libraryError(400, "Invalid argument: body: is no POM: well-formed XML whose root is project");
}

/** What the POM, or the main jar, says of a plugin of Maven. */
async function pluginOf(
  { deps }: LibraryExchange,
  { artifactId, version, file }: MavenPath & { kind: "file" },
  pom: Pom | undefined,
  blob: StoredBlob,
): Promise<MavenState> {
  if (pom !== undefined) return pluginOfPom(pom);
  const built = snapshotFileOf(artifactId, version, file);
  const isMain = built === undefined ? file === `${artifactId}-${version}.jar` : built.classifier === "";
  return isMain && file.endsWith(".jar") ? await pluginOfJar(deps, blob) : {};
}

function tooLarge(maxBytes: number): Error {
  return libraryError(413, `Invalid argument: body: has more than ${maxBytes} bytes`);
}

function created(exchange: LibraryExchange): void {
  send(exchange, 201, {}, Buffer.alloc(0));
}
