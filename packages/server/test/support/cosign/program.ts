// cosign, as it was built by .ci/cosign.sh: with keys of its own, and no network but loopback.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Platform } from "../platform.ts";
import type { SigningKey } from "../signing.ts";

/** Cosign 3, and the last version that signs with tags by default. */
export type CosignProgram = "cosign" | "cosign2";

/** Where the programs are; empty where they were not built. */
export const PROGRAMS: Readonly<Record<CosignProgram, string>> = {
  cosign: process.env["MOORAGE_TEST_COSIGN"] ?? "",
  cosign2: process.env["MOORAGE_TEST_COSIGN2"] ?? "",
};

const TIMEOUT_MS = 120_000;
const MAX_OUTPUT = 4 << 20;

/** What a program has answered. */
interface Run {
  ok: boolean;
  text: string;
}

export interface Cosign {
  /** Runs it; the text is all of its output. */
  run(program: CosignProgram, args: readonly string[]): Promise<Run>;
  /** Runs it, and throws its output unless it succeeds. */
  do(program: CosignProgram, ...args: string[]): Promise<string>;
  /** Makes a file in its folder, which is the one that it runs in. */
  file(name: string, content: string): void;
  close(): void;
}

/** A folder for cosign to run in, with the credentials of an identity for the registry. */
export async function openCosign(platform: Platform, identity: string): Promise<Cosign> {
  const folder = mkdtempSync(join(tmpdir(), "moorage-cosign-"));
  const token = await platform.token(identity);
  const auth = Buffer.from(`any:${token}`).toString("base64");
  writeFileSync(join(folder, "config.json"), JSON.stringify({ auths: { [new URL(platform.url).host]: { auth } } }));
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: folder,
    DOCKER_CONFIG: folder,
    COSIGN_PASSWORD: "",
    COSIGN_YES: "true",
    // Nothing listens there: whatever asks another network fails.
    HTTPS_PROXY: "http://127.0.0.1:9",
    HTTP_PROXY: "http://127.0.0.1:9",
  };
  const run: Cosign["run"] = (program, args) =>
    new Promise((resolve) => {
      const options = { cwd: folder, env, timeout: TIMEOUT_MS, maxBuffer: MAX_OUTPUT };
      execFile(PROGRAMS[program], args, options, (error, stdout, stderr) =>
        resolve({ ok: error === null, text: `${program} ${args.join(" ")}\n${stdout}${stderr}` }),
      );
    });
  return {
    run,
    async do(program, ...args) {
      const { ok, text } = await run(program, args);
      if (!ok) throw new Error(text);
      return text;
    },
    file: (name, content) => writeFileSync(join(folder, name), content),
    close: () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }),
  };
}

/** Gives cosign the key pair, as `<name>.key` and `<name>.pub`. */
export async function importKey(cosign: Cosign, name: string, { privateKey, pem }: SigningKey): Promise<void> {
  cosign.file(`${name}.pem`, privateKey.export({ type: "pkcs8", format: "pem" }).toString());
  await cosign.do("cosign", "import-key-pair", "--key", `${name}.pem`, "--output-key-prefix", name);
  cosign.file(`${name}.pub`, pem);
}
