package metric

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// An expression is a parsed Way.Expr. The grammar is that of arithmetic, with blanks between
// the tokens:
//
//	sum     = product { ("+" | "-") product }
//	product = operand { ("*" | "/") operand }
//	operand = number | name | "(" sum ")"
type expression struct {
	root     *node
	tokens   []string
	operands []string // names, each once, in order of appearance
}

type node struct {
	op          byte // + - * / for an inner node, 'n' a number, 'v' a name
	left, right *node
	number      float64
	name        string
}

// errZero is a division by 0.
var errZero = errors.New("the denominator is 0")

var compiled sync.Map // of expressions, by text

// compile parses an expression of the table, which has none that does not parse.
func compile(text string) *expression {
	if e, ok := compiled.Load(text); ok {
		return e.(*expression)
	}
	e, err := parse(text)
	if err != nil {
		panic(err)
	}
	compiled.Store(text, e)
	return e
}

func parse(text string) (*expression, error) {
	p := &parser{tokens: strings.Fields(text)}
	e := &expression{tokens: p.tokens}
	root, err := p.sum()
	if err == nil && p.at < len(p.tokens) {
		err = fmt.Errorf("unexpected %q", p.tokens[p.at])
	}
	if err != nil {
		return nil, fmt.Errorf("expression %q: %w", text, err)
	}
	e.root = root
	root.walk(func(n *node) {
		if n.op == 'v' && !slices.Contains(e.operands, n.name) {
			e.operands = append(e.operands, n.name)
		}
	})
	return e, nil
}

type parser struct {
	tokens []string
	at     int
	depth  int
}

func (p *parser) sum() (*node, error)     { return p.binary("+-", p.product) }
func (p *parser) product() (*node, error) { return p.binary("*/", p.operand) }

func (p *parser) binary(ops string, next func() (*node, error)) (*node, error) {
	left, err := next()
	for err == nil && p.at < len(p.tokens) && len(p.tokens[p.at]) == 1 && strings.Contains(ops, p.tokens[p.at]) {
		n := &node{op: p.tokens[p.at][0], left: left}
		p.at++
		n.right, err = next()
		left = n
	}
	return left, err
}

func (p *parser) operand() (*node, error) {
	if p.at == len(p.tokens) {
		return nil, errors.New("unexpected end")
	}
	token := p.tokens[p.at]
	p.at++
	switch token {
	case "(":
		if p.depth++; p.depth > 100 {
			return nil, errors.New("nested too deeply")
		}
		n, err := p.sum()
		if err != nil {
			return nil, err
		}
		if p.at == len(p.tokens) || p.tokens[p.at] != ")" {
			return nil, errors.New("a parenthesis is not closed")
		}
		p.at++
		p.depth--
		return n, nil
	case ")", "+", "-", "*", "/":
		return nil, fmt.Errorf("unexpected %q", token)
	}
	if c := token[0]; '0' <= c && c <= '9' {
		number, err := strconv.ParseFloat(token, 64)
		return &node{op: 'n', number: number}, err
	}
	return &node{op: 'v', name: token}, nil
}

func (n *node) walk(f func(*node)) {
	if n == nil {
		return
	}
	n.left.walk(f)
	f(n)
	n.right.walk(f)
}

// eval computes the expression. Every operand has a value.
func (e *expression) eval(values map[string]float64) (float64, error) {
	return e.root.eval(values)
}

func (n *node) eval(values map[string]float64) (float64, error) {
	switch n.op {
	case 'n':
		return n.number, nil
	case 'v':
		return values[n.name], nil
	}
	left, err := n.left.eval(values)
	if err != nil {
		return 0, err
	}
	right, err := n.right.eval(values)
	if err != nil {
		return 0, err
	}
	switch n.op {
	case '+':
		return left + right, nil
	case '-':
		return left - right, nil
	case '*':
		return left * right, nil
	}
	if right == 0 {
		return 0, errZero
	}
	return left / right, nil
}

// render returns the expression with its operands called by other names.
func (e *expression) render(names map[string]string) string {
	tokens := slices.Clone(e.tokens)
	for i, t := range tokens {
		if name, ok := names[t]; ok {
			tokens[i] = name
		}
	}
	text := strings.Join(tokens, " ")
	return strings.NewReplacer("( ", "(", " )", ")").Replace(text)
}
