// The `moorage-credential-kubelet` program.
import { answerThisKubelet } from "./kubelet-process.ts";

await answerThisKubelet();
