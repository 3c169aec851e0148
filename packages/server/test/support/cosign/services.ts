// Fulcio and a time-stamping authority of Sigstore, as .ci/cosign.sh has built them, on loopback. There is no log: the
// one that can be had takes a bucket of a cloud.
import { type ChildProcess, spawn } from "node:child_process";
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
};

/** A service that runs. */
interface Service {
  url: string;
  /** The certificates that it signs with, as PEM. */
  chain: string;
}

export interface SigstoreServices {
  fulcio: Service;
  timestamps: Service;
  close(): Promise<void>;
}

/** Starts both. Fulcio certifies whoever has a token of this issuer for the audience `sigstore`, as jobs of GitHub. */
export async function openServices(issuer: string): Promise<SigstoreServices> {
  const folder = mkdtempSync(join(tmpdir(), "moorage-sigstore-"));
  const [http, grpc, metrics, timestamps] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
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
  const children = [
    start(SERVICES.fulcio, ["serve", ...authority, ...hosts, ...ports]),
    start(SERVICES.timestamps, ["serve", ...listener, ...signer]),
  ];
  const close = async (): Promise<void> => {
    await Promise.all(children.map(end));
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  };
  const chainAt = (url: string): Promise<string> =>
    eventually(async () => {
      const answer = await fetch(url, { signal: AbortSignal.timeout(10_000) }).catch(() => undefined);
      return answer?.ok === true && (await answer.text());
    });
  const [fulcio, stamping] = [`http://${here}:${http}`, `http://${here}:${timestamps}/api/v1/timestamp`];
  try {
    return {
      fulcio: { url: fulcio, chain: await chainAt(`${fulcio}/api/v1/rootCert`) },
      timestamps: { url: stamping, chain: await chainAt(`${stamping}/certchain`) },
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
