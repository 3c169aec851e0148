// The one file that is the command for people and machines that only talk to a server: all programs of the package in
// one. Which of them it is depends on the name that it is called by.
import "./older-node.ts";
import { calledProgram } from "./called-file.ts";

const PROGRAMS: Readonly<Record<string, () => Promise<void>>> = {
  "docker-credential-moorage": async () => (await import("../credential/client.ts")).answerClient(),
  "moorage-credential-kubelet": async () => (await import("../credential/kubelet-process.ts")).answerThisKubelet(),
  "moorage-keyring": async () => (await import("../credential/keyring-process.ts")).answerPip(),
  moorage: async () => (await import("../start.ts")).start(process.argv.slice(2)),
};

void PROGRAMS[calledProgram()]?.();
