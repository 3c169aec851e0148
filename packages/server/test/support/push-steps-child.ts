// A registry that ends at a step of a push, as by a kill, for tests. Arguments: a folder that is served already, and
// the step. Prints its URL.
import type { ByteSource } from "../../../kernel/src/blobs/index.ts";
import { openEndpoint } from "./registry-endpoint.ts";

/** Where a push is cut off: after which of the things that it leaves on the disk. */
export type Step = "upload file" | "half of the content" | "content" | "record" | "manifest" | "nothing";

const [folder = "", step = ""] = process.argv.slice(2);
const endpoint = await openEndpoint(folder, { prepared: true });
const { blobs, transactor } = endpoint.deps;

function reach(reached: Step): void {
  if (step === reached) process.kill(process.pid, "SIGKILL");
}

async function* halved(source: ByteSource): ByteSource {
  let count = 0;
  for await (const chunk of source) {
    yield chunk;
    count += chunk.length;
    if (count > 400_000) reach("half of the content");
  }
}

endpoint.deps.blobs = {
  ...blobs,
  async startUpload(id) {
    await blobs.startUpload(id);
    reach("upload file");
  },
  async store(source, digest, options) {
    const stored = await blobs.store(halved(source), digest, options);
    reach("content");
    return stored;
  },
};
endpoint.deps.transactor = {
  ...transactor,
  async write(command, data, input) {
    const output = await transactor.write(command, data, input);
    if (command.name === "oci.commitBlob") reach("record");
    if (command.name === "oci.putManifest") reach("manifest");
    return output;
  },
};
process.stdout.write(`${endpoint.url}\n`);
