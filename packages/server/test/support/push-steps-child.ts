// A registry that ends at a step of a push, as by a kill, for tests. Arguments: a folder that is served already, and
// the step. Prints its URL.
import { syncs } from "./push-steps-sync.ts";
import type { ByteSource } from "../../../kernel/src/blobs/index.ts";
import { openEndpoint } from "./registry-endpoint.ts";

/**
 * Where a push is cut off: after which of the things that it leaves. A whole blob is written, synced, stored and
 * recorded; chunks have an upload, which is a file and its row, and is moved to its place, synced and recorded.
 */
export type Step =
  | "repo"
  | "upload file"
  | "upload row"
  | "half of a chunk"
  | "chunk"
  | "moved upload"
  | "finished upload"
  | "record of an upload"
  | "half of the content"
  | "written content"
  | "synced content"
  | "content"
  | "record"
  | "manifest"
  | "nothing";

const STEPS: Record<string, Step[]> = {
  "oci.ensureRepository": ["repo"],
  "oci.startUpload": ["upload row"],
  "oci.commitBlob": ["record", "record of an upload"],
  "oci.putManifest": ["manifest"],
};

const [folder = "", step = ""] = process.argv.slice(2);
const endpoint = await openEndpoint(folder, { prepared: true });
const { blobs, transactor } = endpoint.deps;

function reach(reached: Step): void {
  if (step === reached) process.kill(process.pid, "SIGKILL");
}

async function* halved(source: ByteSource, reached: Step): ByteSource {
  let count = 0;
  for await (const chunk of source) {
    yield chunk;
    count += chunk.length;
    if (count > 400_000) reach(reached);
  }
}

endpoint.deps.blobs = {
  ...blobs,
  async startUpload(id) {
    await blobs.startUpload(id);
    reach("upload file");
  },
  async append(id, offset, source, options) {
    const appended = await blobs.append(id, offset, halved(source, "half of a chunk"), options);
    reach("chunk");
    return appended;
  },
  async finish(id, digest) {
    syncs.begins = () => reach("moved upload");
    const stored = await blobs.finish(id, digest);
    reach("finished upload");
    return stored;
  },
  async store(source, digest, options) {
    syncs.begins = () => reach("written content");
    syncs.ended = () => reach("synced content");
    const stored = await blobs.store(halved(source, "half of the content"), digest, options);
    reach("content");
    return stored;
  },
};
endpoint.deps.transactor = {
  ...transactor,
  async write(command, data, input) {
    const output = await transactor.write(command, data, input);
    for (const reached of STEPS[command.name] ?? []) reach(reached);
    return output;
  },
};
process.stdout.write(`${endpoint.url}\n`);
