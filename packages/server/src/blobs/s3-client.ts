import type { LookupFunction } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { S3Client } from "@aws-sdk/client-s3";
import { isFolderRace } from "./s3-errors.ts";
import type { S3Location } from "./s3-url.ts";

// Limits of each attempt; the SDK makes three. A body may pause while it is read, for as long as its reader does.
const CONNECT_TIMEOUT_MS = 5_000;
const ANSWER_TIMEOUT_MS = 60_000;
const IDLE_TIMEOUT_MS = 90_000;
const MAX_ATTEMPTS = 3;
const FOLDER_ATTEMPTS = 5;
const FOLDER_PAUSE_MS = 20;
const MAX_SOCKETS = 256;

export interface NetworkOptions {
  /** Replaces the system's resolver. */
  lookup?: LookupFunction;
  /** The time limit for the response to one attempt. Defaults to one minute. */
  answerTimeoutMs?: number;
}

/** The SDK's client of the server at that location, with time limits and retries. No request is made yet. */
export function openClient(
  { endpoint, region, pathStyle }: S3Location,
  { lookup, answerTimeoutMs = ANSWER_TIMEOUT_MS }: NetworkOptions,
): S3Client {
  const agent = { keepAlive: true, maxSockets: MAX_SOCKETS, lookup };
  const client = new S3Client({
    endpoint,
    region,
    forcePathStyle: pathStyle,
    maxAttempts: MAX_ATTEMPTS,
    // The newer checksums are sent as trailers, which many servers other than AWS' reject. The signature covers the
    // bytes of every request anyway.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: answerTimeoutMs,
      throwOnRequestTimeout: true,
      socketTimeout: IDLE_TIMEOUT_MS,
      httpAgent: agent,
      httpsAgent: agent,
      logger: SILENT,
    },
  });
  retryFolderRaces(client);
  return client;
}

function retryFolderRaces(client: S3Client): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await next(args);
        } catch (error) {
          if (attempt === FOLDER_ATTEMPTS || !isFolderRace(error)) throw error;
          await wait(attempt * FOLDER_PAUSE_MS);
        }
      }
    },
    { step: "initialize", name: "folderRaces" },
  );
}

const silent = (): void => undefined;
const SILENT = { trace: silent, debug: silent, info: silent, warn: silent, error: silent };
