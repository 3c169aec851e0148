// The one file that is `moorage-credential-kubelet` alone.
import "./older-node.ts";
import { answerThisKubelet } from "../credential/kubelet-process.ts";

void answerThisKubelet();
