import { parse } from "@renovatebot/pep440";
import { isVersion } from "../../lib/versions/index.ts";

/**
 * What pip chooses when no version is asked for: of those that are not yanked the newest release, or where there is
 * none the newest pre-release. `offered`: the earliest first. Undefined when all are yanked. Sources: PEP 440,
 * "handling of pre-releases"; PEP 592.
 */
export function newestOf<T extends { version: string; yanked?: string | null | undefined }>(
  offered: readonly T[],
): T | undefined {
  const choosable = offered.filter(({ yanked }) => yanked === null || yanked === undefined);
  return choosable.findLast(({ version }) => !isPreRelease(version)) ?? choosable.at(-1);
}

/** Whether clients choose it only when they are asked to, or when there is no other. */
export function isPreRelease(version: string): boolean {
  const found = isVersion("pypi", version) ? parse(version) : null;
  return found === null || found.pre !== null || found.dev !== null;
}

/** The version of CUDA that a version was built for, as digits: 121 of `2.4.0+cu121`, as PyTorch names its builds. */
export function cudaOf(version: string): string {
  return /\+(?:.*\.)?cu(\d{2,4})(?:\.|$)/.exec(version)?.[1] ?? "";
}
