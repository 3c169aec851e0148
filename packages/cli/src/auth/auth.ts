// `moorage auth`: the credentials of other programs: docker, podman, helm, the kubelet, pip and npm.
import type { Command } from "commander";
import { addDocker } from "./docker.ts";
import { addKubelet } from "./kubelet.ts";
import { addNpm } from "./npm.ts";
import { addPip } from "./pip.ts";

/** Adds `moorage auth` with its commands. */
export function addAuth(program: Command): void {
  const auth = program
    .command("auth")
    .description("have docker, podman, helm, the kubelet, pip and npm log in by themselves");
  for (const add of [addDocker, addKubelet, addPip, addNpm]) add(auth);
}
