// The program of a process that makes large answers: it reads the database and the blobs, and writes nothing.
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import type { Config } from "@moorage/kernel/config";
import { isUnary } from "@moorage/kernel/core/method-kinds";
import type { ServiceContext } from "@moorage/kernel/core/service";
import { messageOf } from "@moorage/kernel/core/stored-answer";
import { isStreamed } from "@moorage/kernel/core/streamed-answer";
import { isWritten } from "@moorage/kernel/core/written-answer";
import { MoorageError, type PlainError, toPlain } from "@moorage/kernel/errors";
import { etagOf } from "@moorage/kernel/lib/etags";
import { serveTasks } from "@moorage/kernel/lib/process-pool/child";
import { createSecrets } from "@moorage/kernel/lib/secrets";
import { type Database, openStore } from "@moorage/kernel/store";
import { loadEcosystems } from "@moorage/libraries/libraries";
import { imageVexOf, type MadeVex, madeVex, readReportHere, type ReadScanned } from "@moorage/security/security";
import { openBlobsOf } from "../installation/stores.ts";
import { createDispatch, type Dispatch } from "../runtime/dispatch.ts";
import { type LargeOutcome, type LargeTask, MAX_LARGE_BYTES, tooLarge } from "../runtime/large-answers.ts";
import { type Method, methodsOf } from "../runtime/methods.ts";
import { blobReader } from "../runtime/read-blob.ts";
import { jsonEncoder } from "../transport/rest/encode.ts";
import { listJson } from "../transport/rest/list-json.ts";
import { listEncoder } from "../transport/rpc/encoded-list.ts";
import { v1Methods } from "../v1/index.ts";

/** What such a process begins with. */
export interface LargeProcessData {
  config: Config;
  /** What services are made with, but for what cannot be sent to a process, or is not needed to read. */
  context: Omit<ServiceContext, "secrets" | "readBlob" | "providers" | "sinks" | "issuers">;
  secretKeys: readonly Uint8Array[];
}

/** Of which image of a repo the VEX is made, and where the installation is. */
export interface VexTask {
  image: { repo: string; digest: string };
  place: { baseUrl: string; registryUrl: string };
}

/** A report of a scanner. */
export interface ReportTask {
  content: Uint8Array;
  isSbom: boolean;
}

interface Opened {
  reader: Database;
  methods: Map<string, Method>;
  dispatch: Dispatch;
}

let opened: Promise<Opened> | undefined;

async function open({ config, context, secretKeys }: LargeProcessData): Promise<Opened> {
  await loadEcosystems(context.ecosystems ?? []);
  // A call is answered after another: it needs one connection.
  const { reader } = await openStore({ ...config, databasePoolSize: 1 });
  const readBlob = blobReader(await openBlobsOf(config));
  const methods = new Map([
    ...methodsOf({ ...context, secrets: createSecrets(secretKeys), readBlob }),
    ...v1Methods({ readBlob }),
  ]);
  const never = (): never => {
    throw new Error("this process only reads");
  };
  const dispatch = createDispatch({
    methods,
    outside: new Map(),
    reader,
    transactor: { read: never, write: never },
    admins: context.admins ?? [],
    // The process that was called has recorded what it rejected.
    auditor: { note() {} },
  });
  return { reader, methods, dispatch };
}

async function answer(task: LargeTask, data: LargeProcessData): Promise<LargeOutcome> {
  const { methods, dispatch } = await (opened ??= open(data));
  return await orError(async () => {
    const { bytes, etag } = await written(task, methods, dispatch);
    if (bytes.length > MAX_LARGE_BYTES) throw tooLarge(`has ${bytes.length} bytes, more than ${MAX_LARGE_BYTES}`);
    return { bytes, etag };
  });
}

async function imageVex({ image, place }: VexTask, data: LargeProcessData): Promise<MadeVex | { error: PlainError }> {
  const { reader: tx } = await (opened ??= open(data));
  return await orError(async () => madeVex(await imageVexOf({ tx, weigh: () => {} }, image, place)));
}

async function scanReport({ content, isSbom }: ReportTask): Promise<ReadScanned> {
  return await readReportHere(content, isSbom);
}

/** An error of the API is an answer, which keeps its details. */
async function orError<T>(work: () => Promise<T>): Promise<T | { error: PlainError }> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof MoorageError) return { error: toPlain(error) };
    throw error;
  }
}

async function written(
  { method: name, data, request, form }: LargeTask,
  methods: Opened["methods"],
  dispatch: Dispatch,
): Promise<{ bytes: Uint8Array; etag: string }> {
  const desc = methods.get(name)?.desc;
  if (desc === undefined || !isUnary(desc)) throw new Error(`there is no method ${name}`);
  const answered = await dispatch.answer(desc, data, fromBinary(desc.input, request), { form });
  if (isWritten(answered)) throw new Error("this process asks no other one");
  if (form === "binary") {
    if (!isStreamed(answered)) return { bytes: toBinary(desc.output, messageOf(answered)), etag: "" };
    const { pieces } = await listEncoder(MAX_LARGE_BYTES)(answered);
    return { bytes: Buffer.concat(pieces), etag: "" };
  }
  if (isStreamed(answered)) return { bytes: await wholeOf(listJson(answered)), etag: "" };
  const text = jsonEncoder(desc)(answered);
  return { bytes: Buffer.from(text), etag: etagOf(text) };
}

async function wholeOf(pieces: AsyncIterable<string | Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  let size = 0;
  for await (const piece of pieces) {
    const bytes = Buffer.from(piece as string);
    size += bytes.length;
    if (size > MAX_LARGE_BYTES) throw tooLarge(`has more than ${MAX_LARGE_BYTES} bytes`);
    all.push(bytes);
  }
  return Buffer.concat(all);
}

serveTasks({ answer, imageVex, scanReport });
