import type { FileReader } from "../reader.ts";
import { apkReader } from "./apk.ts";
import { composerReader } from "./composer.ts";
import { condaReader } from "./conda.ts";
import { dotnetReader } from "./dotnet.ts";
import { dpkgReader } from "./dpkg.ts";
import { eggReader } from "./eggs.ts";
import { erlangReader } from "./erlang.ts";
import { executableReaders } from "./executables.ts";
import { gemReader } from "./gems.ts";
import { javaReader } from "./java.ts";
import { npmReader } from "./npm.ts";
import { osReleaseReader } from "./os-release.ts";
import { pythonReader } from "./python.ts";
import { rReader } from "./r.ts";
import { rpmReaders } from "./rpm.ts";
import { yarnReaders } from "./yarn.ts";

/** All readers; the first that wants a file reads it. */
export const FILE_READERS: readonly FileReader[] = [
  osReleaseReader,
  dpkgReader,
  apkReader,
  ...rpmReaders,
  npmReader,
  ...yarnReaders,
  pythonReader,
  eggReader,
  javaReader,
  composerReader,
  gemReader,
  dotnetReader,
  condaReader,
  rReader,
  erlangReader,
  ...executableReaders,
];
