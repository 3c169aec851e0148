import { playHeavy } from "../../support/heavy/play.ts";
import { HEAVY } from "../../support/heavy/inputs.ts";

playHeavy(HEAVY.readers);
