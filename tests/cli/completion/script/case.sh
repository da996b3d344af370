dolium completion bash
