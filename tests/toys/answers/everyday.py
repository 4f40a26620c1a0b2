"""Labelled pairs of digits, units, choices and words as people write them; `pairs.py` says how to read it."""

EVERYDAY = r"""
[spaces in numbers]
1234567 ≡ 1 234 567 ≡ 1 234 567 \text{ people} ≡ +1 234 567 ≢ -1 234 567 ≢ 1 234 567 8 ≢ 1 2345 67
≢ 1 234, 567 ≢ 1 234/567 ≢ 12 34 567
-12 500 ≡ -12500 ≡ −12 500 ≡ -12\,500 ≢ 12500 ≢ -125
2 500 ≡ 2500 ≢ 2\cdot500 ≢ 1000 ≢ 2,500,0 ≢ 2
(1 000, 2 000) ≡ (1000,2000) ≢ (1,000,2,000)
1 234/567 ≡ 1\frac{234}{567} ≢ 1234/567
5 100 ≢ 500
10 000.5 ≡ 10000.5 ≢ 10000

[bases in words]
143_5 ≡ 143\text{ base }5 ≡ 143 \text{ in base } 5 ≡ 143\text{ (base 5)} ≡ 143_{\text{five}}
≢ 143\text{ base }6 ≢ 143 base 10 ≢ 134 base 5 ≢ 48 base 5
48 ≢ 143 base 5 ≡ 48 ≢ 48 base 9

[decimals that go on]
\frac13 ≡ 0.333... ≡ 0.3333\ldots ≡ 0.333\dots ≢ 0.33 ≢ 0.334... ≢ 0.343434... ≢ 3.333... ≢ 0.3335...
\frac{1}{7} ≡ 0.142857142857... ≢ 0.142857... ≢ 0.142...
e ≢ 2.718281828... ≢ 2.71828...
\frac{7}{12} ≡ 0.58333... ≢ 0.58383... ≢ 0.5333...
0.9 ≢ 0.999...
1 ≡ 0.999...
\pi ≢ 3.14159... ≢ 3.141...
\frac{8}{33} ≡ 0.242424... ≢ 0.24... ≢ 0.244...

[converted units]
2\text{ hours} ≡ 120\text{ minutes} ≡ 7200\text{ seconds} ≡ 2 ≢ 120\text{ hours} ≢ 2\text{ minutes}
≢ 120\text{ seconds} ≢ 12\text{ minutes} ≢ 120\text{ degrees}
1\text{ km} ≡ 1000\text{ m} ≡ 100000\text{ cm} ≢ 1000\text{ km} ≢ 100\text{ m} ≢ 1000\text{ m}^2
≢ 1000\text{ s}
5\text{ m}^2 ≡ 50000\text{ cm}^2 ≢ 500\text{ cm}^2 ≢ 500\text{ cm} ≢ 5\text{ m}
36\text{ km/h} ≡ 10\text{ m/s} ≢ 36\text{ m/s} ≢ 10\text{ km/h} ≢ 10\text{ m}
1\text{ day} ≡ 24\text{ hours} ≢ 12\text{ hours}
3\text{ feet} ≡ 1\text{ yard} ≡ 36\text{ inches} ≢ 36\text{ feet} ≢ 3\text{ yards}
5\text{ feet }3\text{ inches} ≡ 63\text{ inches} ≡ 5 feet 3 inches ≡ 5\text{ ft }3\text{ in}
≢ 53\text{ inches} ≢ 5.3\text{ feet} ≢ 3\text{ feet }5\text{ inches} ≢ 5\text{ feet} ≢ 63\text{ feet}
1\text{ hour }30\text{ minutes} ≡ 90\text{ minutes} ≡ 1.5\text{ hours} ≢ 1.3\text{ hours} ≢ 130\text{ minutes}
≢ 1\text{ hour}
50\text{ cents} ≡ \$0.50 ≡ 50 ≢ \$50 ≢ 0.50\text{ cents}
\$3 ≡ 300\text{ cents} ≢ 300 ≢ 3\text{ cents}
2\text{ years} ≡ 24\text{ months} ≢ 2\text{ months} ≢ 24\text{ years}
10\text{ kg} ≢ 10\text{ pounds} ≢ 10\text{ g} ≡ 10000\text{ g}
12\frac{\text{m}}{\text{s}^2} ≡ 12\text{ m/s}^2 ≡ 12 ≢ 12\text{ m/s} ≢ 12\text{ s/m}
4\,\mathrm{m\,s^{-1}} ≡ 4\text{ m/s} ≢ 4\text{ m s} ≢ 4\text{ s/m}

[choices with their answer]
14 ≡ \textbf{(C) }14 ≡ (C) 14 ≡ \textbf{(C)}\ 14 ≡ \text{(C)}\quad 14 ≡ C) 14 ≡ C. 14 ≢ (C) 41
≡ \textbf{(C) 14} ≡ \text{(C) 14} ≢ \textbf{(C) 41} ≢ \text{(C) 14, (D) 15}
≢ \textbf{(D) }15 ≢ C ≢ (C) ≢ 14C ≢ C14 ≢ (C)(14)
B ≡ \textbf{(B)}\ \frac{1}{2} ≡ (B) \frac12 ≡ B. ≡ B) ≡ \text{(B)} ≡ \text{Option B}
≢ \textbf{(A)}\ \frac{1}{2} ≢ (BD) ≢ B, C ≢ Option D ≢ BB ≢ 2B ≢ B+1 ≢ (B)(C) ≢ b
\textbf{(E) }\text{none of these} ≡ E ≡ (E) ≡ \text{none of these} ≢ D ≢ \text{none} ≢ (D) none of these
\frac{1}{2} ≡ \textbf{(B) } \frac{1}{2} ≢ \textbf{(B) } \frac{1}{3} ≢ \textbf{(B) } \frac{1}{2}, \frac13
14C ≢ (C) 14 ≡ C\cdot14
A, C ≡ C, A ≡ A \text{ and } C ≡ \text{A, C} ≢ A \text{ or } C
B \text{ or } D ≡ D \text{ or } B ≢ B, D ≢ \text{B and D}
(A)(B) ≡ AB
(C)x ≡ Cx
(2,3) ≡ (A) (2,3) ≡ A(2,3) ≢ (A) (3,2) ≢ A(3,2)
\text{Monday} ≡ (A) Monday ≡ \textbf{(A) } \text{Monday} ≢ (A) Tuesday

[points with names]
P(2,3) ≡ (2,3) ≡ P=(2,3) ≢ (3,2) ≢ Q(2,3,1) ≢ P(3,2)
A(0,0),B(1,0) ≡ A=(0,0),B=(1,0) ≡ A(0,0)\text{ and }B(1,0) ≢ A(1,0),B(0,0) ≢ A(0,0)

[numbers in words]
120 ≡ \text{one hundred twenty} ≡ \text{one hundred and twenty} ≢ \text{one hundred}
≢ \text{one hundred twelve} ≢ \text{twelve hundred}
\frac{3}{4} ≡ \text{three fourths} ≡ \text{three quarters} ≢ \text{four thirds} ≢ \text{three fifths}
≢ \text{three} ≢ \text{three and four}
-3 ≡ \text{minus three} ≡ \text{negative }3 ≢ \text{three} ≢ \text{positive }3
1005 ≡ \text{one thousand five} ≢ \text{one thousand fifty} ≢ \text{one five}
\frac{2}{3} ≡ 2 \text{ out of } 3 ≢ 3\text{ out of }2 ≢ 2\text{ out of 5}

[names joined by and]
\text{Ann and Bob} ≡ \text{Bob and Ann} ≡ \text{Bob} \text{ and Ann} ≡ \textbf{Bob and Ann.}
≢ \text{Ann or Bob} ≢ \text{Ann and Rob} ≢ \text{Ann}
\text{A and not B} ≢ \text{B and not A}
\text{none} ≡ \emptyset ≢ 0 ≢ \text{one}

[letters as units]
5\text{ m} ≡ 5.0 m ≡ 5 m ≡ 10/2 m ≢ 5 s ≢ 5 m^2 ≢ 6 m ≢ 5 n ≢ 5 m s
9.8\text{ m/s}^2 ≡ 9.80 m/s^2 ≢ 9.8 m/s ≢ 9.8 s/m^2
3\times10^8\text{ m/s} ≡ 3e8 m/s ≡ 3.0 \times 10^8 m/s ≡ 300000000 m/s ≢ 3e7 m/s ≢ 3e8 s/m
20\text{ N} ≡ 20.0 N ≢ 20 J ≢ 20 n
5m ≡ 5 m ≢ 5\text{ s} ≢ 5n
5\text{ hours} ≡ 5h ≢ 5h\text{ hours}

[dates]
2024-05-01 ≡ 2024-05-01 ≡ \text{2024-05-01} ≢ 2024-01-05 ≢ 2018 ≢ 2024-05-02
2018 ≢ 2024-05-01 ≡ 2024-5-1

[remainders]
5\text{ R }3 ≡ 5 R 3 ≡ 5\text{ remainder }3 ≡ 5R3 ≡ 5 remainder 3 ≢ 3\text{ R }5 ≢ 15 ≢ 53 ≢ 5 ≢ 5\text{ R }2
15R ≡ 15 R ≢ 5\text{ R }3

[approximations in words]
3.5 ≡ \text{approximately }3.5 ≡ \approx3.5 ≢ \text{approximately }3.6
\frac37 ≡ \frac37\text{ or approximately }0.43 ≢ 0.43\text{ or approximately }\frac37
≢ \frac38\text{ or approximately }0.43

[fractions of two letters]
\frac{k}{m} ≡ \frac km ≡ k/m ≢ \frac mk ≢ km ≢ \frac{km}{1}
\sqrt{\frac km} ≡ \sqrt{k/m} ≢ \sqrt{km}
\frac{c}{m} ≡ \frac cm ≢ \frac mc

[choices with a colon]
B ≡ B: 12 ≡ B: 12\pi ≢ A: 12 ≢ B:12 ≢ 12B
12 ≡ B: 12 ≢ B: 13
A:B=1:2 ≡ A : B = 1 : 2 ≡ 1:2 ≢ 2:1
2:3 ≡ 2 : 3 ≢ 3:2

[distributions]
N(0,1) ≡ N(0, 1) ≢ (0,1) ≢ N(1,0)
(0,1) ≡ P(0,1) ≢ U(0,1) ≢ N(0,1)
U(0,1) ≡ U(0, 1)

[phrases after an answer]
\text{all real }x ≡ \mathbb{R} ≡ \text{all real values of }x ≡ \text{all real numbers}
≢ \text{all integers} ≢ x
f(x)=x\text{ for all }x ≡ f(x)=x ≢ f(x)=x\text{ for some }x
f(x)=cx\text{ for some constant }c ≡ f(x)=cx ≡ f(x)=kx ≡ f(x)=ax ≢ f(x)=x ≢ f(x)=c ≢ f(x)=cx+d
f(x)=x+c,\text{ where }c\text{ is any real number} ≡ f(x)=x+c ≡ f(x)=c+x\text{ for all real }c ≢ f(x)=x-c^2
\text{No such }n\text{ exists} ≡ \text{no solution} ≡ \text{there is no such }n ≢ 0 ≢ \text{all }n
\text{Answer: C} ≡ C ≡ \text{(C)} ≢ D ≢ \text{Answer: D}
2k\text{ for integer }k ≡ 2n\text{ for any integer }n ≢ 2n+1\text{ for integer }n ≢ 2

[totals without a unit]
3.5 ≡ 3\text{ hours and }30\text{ minutes} ≢ 3\text{ hours and }5\text{ minutes}
≢ 3\text{ minutes and }30\text{ seconds and }5
210 ≡ 3\text{ hours }30\text{ minutes} ≢ 3\text{ hours }20\text{ minutes}
42 ≡ 42\text{ dollars and }0\text{ cents} ≢ 42\text{ dollars and }5\text{ cents}
3.5\text{ minutes} ≡ 3\text{ minutes }30\text{ seconds} ≢ 3\text{ hours }30\text{ minutes}

[further units]
2.5\times10^{-3}\text{ mol} ≡ 0.0025\text{ mol} ≡ 2.5\text{ mmol} ≡ 0.0025\text{ moles} ≢ 2.5\text{ mol}
≢ 0.025\text{ mol}
500\text{ nm} ≡ 5\times10^{-7}\text{ m} ≡ 500\text{ nanometers} ≢ 500\text{ mm} ≢ 5\text{ nm}
2nm ≡ 2mn ≡ 2 n m ≢ 2n
3.6\text{ kJ} ≡ 3600\text{ J} ≡ 0.001\text{ kWh} ≢ 3.6\text{ J} ≢ 3.6\text{ kWh}

[spaces after commas]
40,320 ≡ 40320 ≡ 40{,}320 ≢ 40, 320 ≢ 40;320
1,\!722 ≡ 1 , \!722 ≡ 1722 ≢ 1, 722
1, 2 ≡ 1,2 ≡ 2 , 1 ≢ 12

[functions for all arguments]
f(x)\equiv0 ≡ f(x)=0 ≢ f(x)=1 ≢ f(x)\equiv1
f(n)=n+1 ≡ f(n)=n+1\text{ for all }n\in\mathbb{N} ≡ n+1,\ \forall n\in\mathbb{Z}
≢ f(n)=n-1\text{ for all }n\in\mathbb{N}

[degrees in a text]
22^\circ\text{C} ≡ 22\text{ °C} ≡ 22\mathrm{°C} ≡ 22°C ≢ 22\text{ °F} ≢ 2.2\text{ °C} ≢ 32\text{ °C}

[numbers of different things]
5\text{ boys},3\text{ girls} ≡ 3\text{ girls},5\text{ boys} ≡ 5\text{ boys and }3\text{ girls} ≡ 5,3
≢ 3\text{ boys},5\text{ girls}
≢ 3,5 ≢ 5\text{ boys},5\text{ girls} ≡ (5,3) ≡ 5\text{ adults},3\text{ children}
2\text{ apples and }3\text{ pears} ≢ 3\text{ apples and }2\text{ pears} ≡ 3\text{ pears and }2\text{ apples}
3\text{ ways},5\text{ ways} ≡ 5,3
5\text{ red apples},3\text{ green apples} ≢ 3\text{ red apples},5\text{ green apples}
"""
