// Fulcio, a time-stamping authority and a log (Rekor 2) of Sigstore, as .ci/cosign.sh has built them, on loopback.
import { type ChildProcess, spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../eventually.ts";
import { freePort } from "../unused-port.ts";

/** Where the programs are; empty where they were not built. */
export const SERVICES = {
  fulcio: process.env["MOORAGE_TEST_FULCIO"] ?? "",
  timestamps: process.env["MOORAGE_TEST_TIMESTAMP_SERVER"] ?? "",
  rekor: process.env["MOORAGE_TEST_REKOR"] ?? "",
};

/** A service that runs. */
interface Service {
  url: string;
  /** The certificates that it signs with, or the log's public key, as PEM. */
  pem: string;
}

export interface SigstoreServices {
  fulcio: Service;
  timestamps: Service;
  rekor: Service;
  close(): Promise<void>;
}

/** The name by which the log signs what it holds: cosign takes it from the log's URL. */
export const LOG_ORIGIN = "127.0.0.1";

/** Starts them. Fulcio certifies whoever has a token of this issuer for the audience `sigstore`, as jobs of GitHub. */
export async function openServices(issuer: string): Promise<SigstoreServices> {
  const folder = mkdtempSync(join(tmpdir(), "moorage-sigstore-"));
  const [http, grpc, metrics, timestamps] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
  const [log, logGrpc, logMetrics] = await Promise.all([freePort(), freePort(), freePort()]);
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  writeFileSync(join(folder, "log.pem"), privateKey.export({ type: "pkcs8", format: "pem" }));
  writeFileSync(
    join(folder, "config.json"),
    JSON.stringify({
      OIDCIssuers: { [issuer]: { IssuerURL: issuer, ClientID: "sigstore", Type: "github-workflow" } },
    }),
  );
  const here = "127.0.0.1";
  const authority = ["--ca", "ephemeralca", "--ct-log-url", "", "--config-path", join(folder, "config.json")];
  const ports = ["--port", `${http}`, "--grpc-port", `${grpc}`, "--metrics-port", `${metrics}`];
  const hosts = ["--host", here, "--grpc-host", here, "--legacy-unix-domain-socket", join(folder, "legacy.sock")];
  const listener = ["--host", here, "--port", `${timestamps}`, "--scheme", "http"];
  const signer = ["--timestamp-signer", "memory", "--disable-ntp-monitoring"];
  const logPorts = ["--http-port", `${log}`, "--grpc-port", `${logGrpc}`, "--http-metrics-port", `${logMetrics}`];
  const logPlaces = [
    "--hostname",
    LOG_ORIGIN,
    "--storage-dir",
    join(folder, "log"),
    "--signer-filepath",
    join(folder, "log.pem"),
  ];
  const children = [
    start(SERVICES.fulcio, ["serve", ...authority, ...hosts, ...ports]),
    start(SERVICES.timestamps, ["serve", ...listener, ...signer]),
    start(SERVICES.rekor, ["serve", ...logPorts, ...logPlaces, "--checkpoint-interval", "200ms"]),
  ];
  const close = async (): Promise<void> => {
    await Promise.all(children.map(end));
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  };
  const textAt = (url: string): Promise<string> =>
    eventually(async () => {
      const answer = await fetch(url, { signal: AbortSignal.timeout(10_000) }).catch(() => undefined);
      return answer?.ok === true && (await answer.text());
    });
  const [fulcio, stamping] = [`http://${here}:${http}`, `http://${here}:${timestamps}/api/v1/timestamp`];
  const rekor = `http://${here}:${log}`;
  try {
    await textAt(`${rekor}/healthz`);
    return {
      fulcio: { url: fulcio, pem: await textAt(`${fulcio}/api/v1/rootCert`) },
      timestamps: { url: stamping, pem: await textAt(`${stamping}/certchain`) },
      rekor: { url: rekor, pem: publicKey.export({ type: "spki", format: "pem" }).toString() },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function start(program: string, args: string[]): ChildProcess {
  return spawn(program, args, { stdio: "ignore" });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}
