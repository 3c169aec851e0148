import { X } from "lucide-react";
import type { TagRetentionRule, TagRetentionRuleInput } from "../../api/gen/registry.ts";
import { daysOf, durationOfDays } from "../../lib/durations.ts";
import { Button } from "../../ui/button.tsx";
import styles from "./retention-rules.module.css";

/** A rule as its fields have it. */
export interface Rule {
  id: number;
  tagPattern: string;
  keepLast: string;
  keepDays: string;
}

/** The fields of a rule. */
export function ruleFields({ tagPattern, keepLast, keepFor }: TagRetentionRule, id: number): Rule {
  return { id, tagPattern, keepLast: keepLast === 0 ? "" : String(keepLast), keepDays: daysOf(keepFor) };
}

/** The rule that the fields say. */
export function ruleOf({ tagPattern, keepLast, keepDays }: Rule): TagRetentionRuleInput {
  const keepFor = durationOfDays(keepDays);
  return { tagPattern: tagPattern.trim(), keepLast: Number(keepLast), ...(keepFor !== undefined && { keepFor }) };
}

export interface RuleSentenceProps {
  rule: Rule;
  /** From 0; errors of the server name it. */
  index: number;
  error: string | undefined;
  onRule: (rule: Rule) => void;
  onRemove: () => void;
}

/** A rule as a sentence whose parts can be changed: how many tags are kept, which ones, for how long. */
export function RuleSentence({ rule, index, error, onRule, onRemove }: RuleSentenceProps) {
  const { tagPattern, keepLast, keepDays } = rule;
  return (
    <div className={styles.rule} role="group" aria-label={`Rule ${index}`}>
      <p>
        Keep the last{" "}
        <input
          aria-label={`Rule ${index}: keep the last`}
          className={styles.number}
          type="number"
          min={0}
          value={keepLast}
          placeholder="0"
          onChange={({ target }) => onRule({ ...rule, keepLast: target.value })}
        />{" "}
        tags matching{" "}
        <input
          aria-label={`Rule ${index}: tags`}
          aria-invalid={error === undefined ? undefined : true}
          aria-describedby={error === undefined ? undefined : `rule-${index}-error`}
          className={styles.pattern}
          value={tagPattern}
          placeholder="all"
          spellCheck={false}
          autoComplete="off"
          onChange={({ target }) => onRule({ ...rule, tagPattern: target.value })}
        />
        , and those that moved within{" "}
        <input
          aria-label={`Rule ${index}: keep for days`}
          className={styles.number}
          type="number"
          min={0}
          step="any"
          value={keepDays}
          placeholder="0"
          onChange={({ target }) => onRule({ ...rule, keepDays: target.value })}
        />{" "}
        days
      </p>
      <Button look="quiet" aria-label={`Remove rule ${index}`} icon={<X size={16} aria-hidden />} onClick={onRemove} />
      {error !== undefined && (
        <p id={`rule-${index}-error`} className={styles.error}>
          {error}
        </p>
      )}
    </div>
  );
}
