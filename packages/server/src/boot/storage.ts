import type { Tokens } from "../auth/index.ts";
import type { BlobStore } from "../blobs/index.ts";
import type { Config } from "../config/index.ts";
import type { TermsDocument } from "../core/service.ts";
import type { Transactor } from "../core/transactor.ts";
import { openBlobsOf } from "../installation/stores.ts";
import { accountProviders } from "../runtime/cloud-providers.ts";
import { type Method, methodsOf } from "../runtime/methods.ts";
import { blobReader } from "../runtime/read-blob.ts";
import { openTransactor } from "../runtime/transactor.ts";
import { wakingTransactor } from "../webhooks/index.ts";
import type { Base } from "./base.ts";
import type { Health } from "./health.ts";
import type { LargeProcessData } from "./large-process.ts";
import type { Shutdown } from "./shutdown.ts";

/** The blob store, the methods, and the transactor. */
export interface Storage {
  blobs: BlobStore;
  /** The methods of the API. */
  methods: Map<string, Method>;
  /** What services are made with that can be sent to another process. */
  context: LargeProcessData["context"];
  /** Uids of identities that may create organizations. */
  admins: readonly string[];
  transactor: Transactor;
}

export interface StorageOptions {
  health: Health;
  terms: readonly TermsDocument[];
  /** Called when the first token for a cloud provider is signed. */
  tokens(): Tokens;
  /** Called after a write that may have emitted events. */
  written(): void;
}

export async function openStorage(
  config: Config,
  { observation, store, installation, secretKeys, secrets }: Base,
  { health, terms, tokens, written }: StorageOptions,
  shutdown: Shutdown,
): Promise<Storage> {
  const { pageTokenKey, ownerRole, bootstrap } = installation;
  const { dataDir, eventsPrefix, baseUrl, registryUrl, allowPrivateNetwork, emailIssuers, publicAdvisories } = config;
  const admins = [bootstrap.identity.uid, ...config.admins];
  const blobs = observation.blobs(await openBlobsOf(config));
  const context = {
    pageTokenKey,
    ownerRole,
    eventsPrefix,
    baseUrl,
    registryUrl,
    allowPrivateNetwork,
    emailIssuers,
    publicAdvisories,
    terms,
    admins,
  };
  const served = {
    ...context,
    publicOrganization: config.publicOrganization,
    freeTierTags: config.freeTierTags,
    installation: {
      organization: bootstrap.organization.uid,
      version: observation.version,
      engine: store.engine,
      blobStore: config.blobsUrl === "" ? ("files" as const) : ("s3" as const),
      startMs: Math.trunc(performance.timeOrigin),
      gcGraceMs: config.gcGraceMs,
      uploadTtlMs: config.uploadTtlMs,
    },
  };
  const providers = accountProviders(config, tokens);
  const methods = methodsOf({ ...served, secrets, readBlob: blobReader(blobs), providers });
  const writer = await openTransactor(store, {
    ...context,
    dataDir,
    methods,
    secretKeys,
    ...(config.databaseUrl === "" && { reserve: { dataDir, bytes: config.diskReserveBytes } }),
    onFault: health.writerDied,
    onDamage: health.damaged,
  });
  shutdown.at("writer", () => writer.close());
  observation.database.watch(() => ({ pool: store.use?.(), writes: writer.waiting() }));
  return {
    blobs,
    methods,
    context: served,
    admins,
    transactor: wakingTransactor(observation.transactor(writer), written),
  };
}
