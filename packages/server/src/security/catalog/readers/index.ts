import type { FileReader } from "../types.ts";
import { apkReader } from "./apk.ts";
import { dpkgReader } from "./dpkg.ts";
import { executableReaders } from "./executables.ts";
import { javaReader } from "./java.ts";
import { npmReader } from "./npm.ts";
import { osReleaseReader } from "./os-release.ts";
import { pythonReader } from "./python.ts";
import { rpmReaders } from "./rpm.ts";

/** All readers; the first that wants a file reads it. */
export const FILE_READERS: readonly FileReader[] = [
  osReleaseReader,
  dpkgReader,
  apkReader,
  ...rpmReaders,
  npmReader,
  pythonReader,
  javaReader,
  ...executableReaders,
];
