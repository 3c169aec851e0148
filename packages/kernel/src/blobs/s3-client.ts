import type { LookupFunction } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { S3Client } from "@aws-sdk/client-s3";
import { isRetried } from "./s3-errors.ts";
import type { S3Location } from "./s3-url.ts";

/** How long the server may be silent, in milliseconds, before a request is cut and repeated. */
const SILENCE_TIMEOUT_MS = 5_000;
// The SDK makes three attempts. What changes something takes longer than a read, and a copy within the server longest:
// it says nothing meanwhile.
const WRITE_FACTOR = 2;
const COPY_FACTOR = 12;
// A body may pause while it is read, for as long as its reader does; that the server pauses, bytesOf notices.
const IDLE_TIMEOUT_MS = 90_000;
const MAX_ATTEMPTS = 3;
const MORE_ATTEMPTS = 5;
const MORE_PAUSE_MS = 20;
const MAX_SOCKETS = 256;

export interface NetworkOptions {
  /** Replaces the system's resolver. */
  lookup?: LookupFunction;
  /** See SILENCE_TIMEOUT_MS, the default. */
  silenceTimeoutMs?: number;
}

/**
 * The SDK's clients of one server, with time limits and retries. No request is made yet. `client`: for requests without
 * much of a body, whose answer must begin in time. `sender`: for bodies, whose bytes must be taken in time, however
 * many there are.
 */
export interface S3Clients {
  client: S3Client;
  sender: S3Client;
  /** The options to send commands with that are not reads. */
  patience: { write: { requestTimeout: number }; copy: { requestTimeout: number } };
  /** How long the server may pause in a body. */
  silenceTimeoutMs: number;
}

export function openClients(location: S3Location, options: NetworkOptions): S3Clients {
  const { silenceTimeoutMs = SILENCE_TIMEOUT_MS } = options;
  return {
    client: openClient(location, options, { requestTimeout: silenceTimeoutMs, socketTimeout: IDLE_TIMEOUT_MS }),
    sender: openClient(location, options, { socketTimeout: WRITE_FACTOR * silenceTimeoutMs }),
    patience: {
      write: { requestTimeout: WRITE_FACTOR * silenceTimeoutMs },
      copy: { requestTimeout: COPY_FACTOR * silenceTimeoutMs },
    },
    silenceTimeoutMs,
  };
}

function openClient(
  { endpoint, region, pathStyle }: S3Location,
  { lookup, silenceTimeoutMs = SILENCE_TIMEOUT_MS }: NetworkOptions,
  timeouts: { requestTimeout?: number; socketTimeout: number },
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
      connectionTimeout: silenceTimeoutMs,
      throwOnRequestTimeout: true,
      ...timeouts,
      httpAgent: agent,
      httpsAgent: agent,
      logger: SILENT,
    },
  });
  retryMore(client);
  return client;
}

function retryMore(client: S3Client): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await next(args);
        } catch (error) {
          if (attempt === MORE_ATTEMPTS || !isRetried(error)) throw error;
          await wait(attempt * MORE_PAUSE_MS);
        }
      }
    },
    { step: "initialize", name: "moreRetries" },
  );
}

const silent = (): void => undefined;
const SILENT = { trace: silent, debug: silent, info: silent, warn: silent, error: silent };
