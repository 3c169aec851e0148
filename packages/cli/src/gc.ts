// `moorage gc`: removes the content that nothing needs, or lists what would be removed: of an installation of this
// machine, or as a dry run of a server elsewhere.
import type { Collected, Config, gcPromise as GcPromise } from "@moorage/server";
import type { Command } from "commander";
import { UsageFailure } from "./command/failure.ts";
import { addServerOptions, type ServerFlags } from "./command/global-options.ts";
import { stoppable } from "./command/interrupt.ts";
import { isAboutServer, rejectLocalFlags } from "./installation-or-server.ts";
import { formatOf } from "./output/format.ts";
import { addOutputOptions, type OutputFlags } from "./output/output.ts";
import { garbageText } from "./output/sizes.ts";
import { addSettings, type FlagValues, namesPlace } from "./settings.ts";

/** Adds `moorage gc`. */
export function addGc(program: Command): void {
  const command = program
    .command("gc")
    .description(
      "remove the content that nothing needs any longer, of an installation of this machine; with --dry-run also show what would be removed on a server elsewhere",
    )
    .option("--dry-run", "change nothing, and list what would be removed")
    .option("--repo <name>", "look at this image alone, such as acme/api")
    .option(
      "--grace <duration>",
      "keep content for so long after the last thing that needed it went, in place of MOORAGE_GC_GRACE; 0s only when nothing is pushed",
    )
    .option("--json", "print the result as JSON");
  // Settings have --data-dir.
  addServerOptions(command, ["context", "url", "token", "timeout", "debug"]);
  addOutputOptions(command);
  const configOf = addSettings(command, (name) => namesPlace(name) || name === "MOORAGE_UPLOAD_TTL");
  command.action(async (values: FlagValues & ServerFlags & OutputFlags) => {
    if (await isAboutServer(values)) return previewOnServer(values);
    const { collectInstallation, gcPromise } = await import("@moorage/server");
    const config = await configOf(values);
    const dryRun = values["dryRun"] === true;
    const graceMs = await graceOf(values["grace"], config);
    const repo = values["repo"] as string | undefined;
    const json = values["json"] === true || isJson(values);
    const repos: (Collected & { name: string })[] = [];
    const onRepo = (name: string, collected: Collected): void => {
      if (json) repos.push({ name, ...collected });
      else console.log(`${name}: ${garbageText(collected)}`);
    };
    const total = await stoppable(
      "stopped: what was removed stays removed; run the same command again for the rest",
      (signal) => collectInstallation(config, { dryRun, repo, graceMs, onRepo, signal }),
    );
    if (json) console.log(JSON.stringify({ dryRun, graceMs, repos, total }, null, 2));
    else
      for (const line of [
        `${dryRun ? "would remove" : "removed"} ${garbageText(total)}`,
        promiseText(gcPromise(config), graceMs),
      ])
        console.log(line);
  });
}

async function previewOnServer(values: FlagValues & ServerFlags & OutputFlags): Promise<void> {
  if (values["dryRun"] !== true)
    throw new UsageFailure("a server collects by itself: only --dry-run can be asked of it", {
      hint: "run moorage gc on its machine, with --data-dir",
    });
  rejectLocalFlags(values, ["repo", "grace"]);
  const { printGarbage } = await import("./tasks/garbage-preview.ts");
  await printGarbage(values["json"] === true ? { ...values, output: "json" } : values);
}

/** Whether JSON is asked for; for an installation of this machine there is a text besides. */
function isJson(values: OutputFlags): boolean {
  const { kind } = formatOf(values);
  if (values.output !== undefined && !["table", "wide", "json"].includes(kind))
    throw new UsageFailure("must be table or json for an installation of this machine", { field: "--output" });
  return kind === "json";
}

async function graceOf(text: unknown, config: Config): Promise<number> {
  if (text === undefined) return config.gcGraceMs;
  const { ConfigError, parseDuration } = await import("@moorage/kernel/config");
  const graceMs = parseDuration(String(text));
  if (graceMs === undefined)
    throw new ConfigError(`--grace: must be a duration such as 0s, 15m or 24h, not ${String(text)}`);
  return graceMs;
}

/** When disk space is freed, as docs/garbage-collection.md describes it. */
function promiseText({ runWithinMs, afterCrashMs }: ReturnType<typeof GcPromise>, graceMs: number): string {
  const run =
    runWithinMs === undefined
      ? "at the first `moorage gc` after that"
      : `by the run after that, which begins within ${durationText(runWithinMs)}`;
  return `space is freed ${durationText(graceMs)} after the last thing that needed it was deleted, ${run}; after a crash at most ${durationText(afterCrashMs)} later`;
}

/** A duration like `25h10m`: hours, minutes, seconds and milliseconds, without those that are 0. */
function durationText(ms: number): string {
  const parts = [
    [Math.floor(ms / 3_600_000), "h"],
    [Math.floor(ms / 60_000) % 60, "m"],
    [Math.floor(ms / 1000) % 60, "s"],
    [ms % 1000, "ms"],
  ] as const;
  return (
    parts
      .filter(([count]) => count > 0)
      .map(([count, unit]) => `${count}${unit}`)
      .join("") || "0s"
  );
}
