// The command as executables that need no Node on the machine: Node's single executable applications.
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commandVersion } from "../bundle/one-file.ts";
import { type Architecture, ARCHITECTURES, nodePackage, PINS } from "./inputs.ts";
import { Missing } from "./missing.ts";

const LIMIT_MS = 300_000;

/** Makes those for which a binary of Node is to be had, from the one file. Returns what could not be made, in lines. */
export function makeExecutables(oneFile: string, folder: string): string[] {
  mkdirSync(folder, { recursive: true });
  const missing: string[] = [];
  for (const architecture of ARCHITECTURES)
    try {
      makeExecutable(oneFile, join(folder, `moorage-linux-${architecture.node}`), architecture);
      copyFileSync(join(nodePackage(architecture), "LICENSE"), join(folder, "LICENSE-node"));
    } catch (error) {
      if (!(error instanceof Missing)) throw error;
      missing.push(`moorage-linux-${architecture.node}: NOT MADE: ${error.message}`);
    }
  writeFileSync(join(folder, "version"), `${commandVersion()}\n`);
  return missing;
}

function makeExecutable(oneFile: string, output: string, architecture: Architecture): void {
  if (process.versions.node !== PINS.node.version)
    throw new Missing(
      `it is made by Node ${PINS.node.version}, which scripts/release/pins.json names, not ${process.version}`,
    );
  const settings = {
    main: oneFile,
    output,
    executable: join(nodePackage(architecture), "bin/node"),
    disableExperimentalSEAWarning: true,
    // Both hold for the processor alone that they were made on.
    useCodeCache: false,
    useSnapshot: false,
  };
  const config = `${output}.json`;
  writeFileSync(config, JSON.stringify(settings));
  const { status, stderr } = spawnSync(process.execPath, ["--build-sea", config], {
    encoding: "utf8",
    timeout: LIMIT_MS,
  });
  rmSync(config);
  if (status !== 0) throw new Error(`the executable for ${architecture.node} cannot be made: ${stderr.trim()}`);
  chmodSync(output, 0o755);
}
